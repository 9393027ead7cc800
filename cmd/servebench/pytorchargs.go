package main

import (
	"os"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/pyjson"
)

// pyTorchVariable has vLLM's client write a second result file, in the format of
// PyTorch's benchmarks, wherever it is not empty.
const pyTorchVariable = "SAVE_TO_PYTORCH_BENCHMARK_FORMAT"

// A vllmArgument is an argument of `vllm bench serve` under its name in Python, with
// the value that it has there when it is not given, and how a given one is read; nil
// for a switch.
type vllmArgument struct {
	name   string
	absent any
	read   func(values []string) (any, error)
}

// readers of given values.
var (
	asText  = func(v []string) (any, error) { return v[0], nil }
	asInt   = func(v []string) (any, error) { return argv.ParseInt(v[0]) }
	asFloat = func(v []string) (any, error) { return argv.ParseFloat(v[0]) }
	asJSON  = func(v []string) (any, error) { return pyjson.Parse(v[0]) }
	asList  = func(v []string) (any, error) { return v, nil }
	hidden  = func([]string) (any, error) { return "***", nil }
)

// vllmArguments are all of 0.33.0, in the order of its parser.
var vllmArguments = []vllmArgument{
	{"trust_remote_code", false, nil},
	{"seed", 0, asInt},
	{"num_prompts", 1000, asInt},
	{"dataset_name", "random", asText},
	{"no_stream", false, nil},
	{"dataset_path", nil, asText},
	{"no_oversample", false, nil},
	{"skip_chat_template", false, nil},
	{"enable_multimodal_chat", false, nil},
	{"disable_shuffle", false, nil},
	{"custom_output_len", 256, asInt},
	{"custom_ensure_client_side_data", false, nil},
	{"spec_bench_output_len", 256, asInt},
	{"spec_bench_category", nil, asText},
	{"sharegpt_output_len", nil, asInt},
	{"timed_trace_chunk_hash_size", 16, asInt},
	{"timed_trace_sec_multiplier", 1, asFloat},
	{"timed_trace_label_timestamp", "timestamp", asText},
	{"timed_trace_label_input_length", "input_length", asText},
	{"timed_trace_label_output_length", "output_length", asText},
	{"timed_trace_label_hash_ids", "hash_ids", asText},
	{"blazedit_min_distance", 0.0, asFloat},
	{"blazedit_max_distance", 1.0, asFloat},
	{"asr_max_audio_len_sec", "inf", asFloat},
	{"asr_min_audio_len_sec", 0.0, asFloat},
	{"random_input_len", 1024, asInt},
	{"random_output_len", 128, asInt},
	{"random_range_ratio", 0.0, asJSON},
	{"random_prefix_len", 0, asInt},
	{"random_batch_size", 1, asInt},
	{"no_reranker", false, nil},
	{"random_mm_base_items_per_request", 1, asInt},
	{"random_mm_num_mm_items_range_ratio", 0.0, asFloat},
	{"random_mm_limit_mm_per_prompt", pyjson.Object{{Key: "image", Value: 255}, {Key: "video", Value: 1}}, asJSON},
	{"random_mm_bucket_config", pyjson.Object{
		{Key: "(256, 256, 1)", Value: 0.5}, {Key: "(720, 1280, 1)", Value: 0.5}, {Key: "(720, 1280, 16)", Value: 0.0},
	}, asJSON},
	{"hf_subset", nil, asText},
	{"hf_split", nil, asText},
	{"hf_name", nil, asText},
	{"hf_output_len", nil, asInt},
	{"bfcl_categories", nil, asText},
	{"prefix_repetition_prefix_len", 256, asInt},
	{"prefix_repetition_suffix_len", 256, asInt},
	{"prefix_repetition_num_prefixes", 10, asInt},
	{"prefix_repetition_output_len", 128, asInt},
	{"speed_bench_dataset_subset", "qualitative", asText},
	{"speed_bench_output_len", 4096, asInt},
	{"speed_bench_category", nil, asText},
	{"label", nil, asText},
	{"backend", "openai", asText},
	{"base_url", nil, asText},
	{"host", "127.0.0.1", asText},
	{"port", 8000, asInt},
	{"endpoint", "/v1/completions", asText},
	{"header", nil, hidden},
	{"max_concurrency", nil, asInt},
	{"model", nil, asText},
	{"input_len", nil, asInt},
	{"output_len", nil, asInt},
	{"tokenizer", nil, asText},
	{"tokenizer_mode", "auto", asText},
	{"use_beam_search", false, nil},
	{"logprobs", nil, asInt},
	{"request_rate", "inf", asFloat},
	{"burstiness", 1.0, asFloat},
	{"probe_request_rate", 0.0, asFloat},
	{"disable_tqdm", false, nil},
	{"num_warmups", 0, asInt},
	{"profile", false, nil},
	{"save_result", false, nil},
	{"save_detailed", false, nil},
	{"append_result", false, nil},
	{"metadata", nil, asList},
	{"result_dir", nil, asText},
	{"result_filename", nil, asText},
	{"ignore_eos", false, nil},
	{"self_timed", false, nil},
	{"percentile_metrics", nil, asText},
	{"metric_percentiles", "99", asText},
	{"goodput", nil, asList},
	{"request_id_prefix", nil, asText},
	{"top_p", nil, asFloat},
	{"top_k", nil, asInt},
	{"min_p", nil, asFloat},
	{"temperature", nil, asFloat},
	{"frequency_penalty", nil, asFloat},
	{"presence_penalty", nil, asFloat},
	{"repetition_penalty", nil, asFloat},
	{"served_model_name", nil, asText},
	{"lora_modules", nil, asList},
	{"lora_assignment", "random", asText},
	{"ramp_up_strategy", nil, asText},
	{"ramp_up_start_rps", nil, asInt},
	{"ramp_up_end_rps", nil, asInt},
	{"ready_check_timeout_sec", 0, asInt},
	{"chat_template_kwargs", nil, asJSON},
	{"extra_body", nil, asJSON},
	{"skip_tokenizer_init", false, nil},
	{"insecure", false, nil},
	{"plot_timeline", false, nil},
	{"timeline_itl_thresholds", "25,50", asText},
	{"plot_dataset_stats", false, nil},
}

// lengthArguments are those that --output-len sets, as in vLLM's client.
var lengthArguments = []string{
	"random_output_len", "sharegpt_output_len", "custom_output_len", "hf_output_len", "spec_bench_output_len", "prefix_repetition_output_len",
}

// resolvePyTorch takes down the arguments for the PyTorch file, if one is to be written.
func (f *form) resolvePyTorch() error {
	if os.Getenv(pyTorchVariable) == "" || !f.Results.Save && !f.Results.Append {
		return nil
	}
	args := pyjson.Object{}
	for _, a := range vllmArguments {
		value := a.absent
		name := strings.ReplaceAll(a.name, "_", "-")
		if a.read == nil && f.flags.Changed(name) {
			value = true
		} else if shown := f.flags.Shown(name); len(shown) > 0 {
			var err error
			if value, err = a.read(shown); err != nil {
				return err
			}
		}
		args = append(args, pyjson.Member{Key: a.name, Value: value})
	}
	if f.flags.Changed("input-len") {
		args = args.With("random_input_len", f.Workload.Random.InputLen)
	}
	for _, name := range lengthArguments {
		if f.flags.Changed("output-len") {
			args = args.With(name, f.Workload.Random.OutputLen)
		}
	}
	f.Results.PyTorch = args.With("ignore_eos", f.Sampling.IgnoreEOS).With("self_timed", f.Workload.SelfTimed)
	return nil
}
