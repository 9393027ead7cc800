package main

import "github.com/servebench/servebench/cmd/servebench/internal/argv"

// Words that vLLM has and servebench does not yet. They are refused by name.
var (
	unbuiltBackends = []string{
		"openai-audio", "openai-embeddings", "openai-embeddings-chat", "openai-embeddings-clip", "openai-embeddings-vlm2vec",
		"infinity-embeddings", "infinity-embeddings-clip", "vllm-pooling", "vllm-rerank",
		"tgi", "lmdeploy", "deepspeed-mii", "tensorrt-llm", "scalellm", "sglang", "llama.cpp",
	}
	unbuiltDatasets = []string{"hf", "random-mm", "random-rerank", "custom_image", "custom_audio", "custom_mm", "txt-slices"}
)

// builtDatasets are the datasets that servebench has; file is its own.
var builtDatasets = []string{
	"random", "sharegpt", "custom", "prefix_repetition", "sonnet", "burstgpt", "spec_bench", "speed_bench", "timed_trace", "file",
}

// goneFlags are flags of older releases of vLLM, with what took their place.
var goneFlags = map[string]string{
	"--best-of":                   "vLLM dropped it",
	"--common-prefix-len":         "use --random-prefix-len",
	"--custom-skip-chat-template": "use --skip-chat-template",
	"--dataset":                   "use --dataset-name and --dataset-path",
	"--endpoint-type":             "use --backend",
}

// refusedFlags are the flags of vllm bench serve that need something that
// servebench does not have yet. Each is refused when given, except with an
// argument that asks for nothing.
type refusedFlags struct{}

func (refusedFlags) define(f *argv.Flags) {
	refuse := func(lacking string, arity argv.Arity, names ...string) {
		for _, name := range names {
			f.Refuse(name, arity, lacking)
		}
	}
	refuse("LoRA adapters", argv.Some, "lora-modules")
	f.Refuse("lora-assignment", argv.One, "LoRA adapters", "random")
	refuse("multimodal prompts", argv.None, "enable-multimodal-chat", "custom-ensure-client-side-data")
	refuse("multimodal prompts", argv.One, "random-mm-base-items-per-request", "random-mm-num-mm-items-range-ratio",
		"random-mm-limit-mm-per-prompt", "random-mm-bucket-config")
	f.Refuse("random-batch-size", argv.One, "batches of prompts, which embeddings take,", "1")
	refuse("reranking", argv.None, "no-reranker")
	refuse("Hugging Face datasets", argv.None, "no-stream")
	refuse("Hugging Face datasets", argv.One, "hf-subset", "hf-split", "hf-name", "hf-output-len",
		"blazedit-min-distance", "blazedit-max-distance", "asr-min-audio-len-sec", "asr-max-audio-len-sec", "bfcl-categories")
}
