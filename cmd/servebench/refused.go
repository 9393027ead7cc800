package main

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
func refusedFlags() []*flag {
	var flags []*flag
	missing := func(what string, args arity, names ...string) {
		for _, name := range names {
			flags = append(flags, &flag{name: name, args: args, missing: what})
		}
	}
	unless := func(name, what string, harmless ...string) {
		flags = append(flags, &flag{name: name, missing: what, harmless: harmless})
	}
	missing("LoRA adapters", some, "lora-modules")
	unless("lora-assignment", "LoRA adapters", "random")
	missing("multimodal prompts", none, "enable-multimodal-chat", "custom-ensure-client-side-data")
	missing("multimodal prompts", one, "random-mm-base-items-per-request", "random-mm-num-mm-items-range-ratio",
		"random-mm-limit-mm-per-prompt", "random-mm-bucket-config")
	unless("random-batch-size", "batches of prompts, which embeddings take,", "1")
	missing("reranking", none, "no-reranker")
	missing("Hugging Face datasets", none, "no-stream")
	missing("Hugging Face datasets", one, "hf-subset", "hf-split", "hf-name", "hf-output-len",
		"blazedit-min-distance", "blazedit-max-distance", "asr-min-audio-len-sec", "asr-max-audio-len-sec", "bfcl-categories")
	return flags
}
