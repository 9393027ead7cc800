package main

import (
	"os"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/pyjson"
)

// pyTorchVariable, if not empty, makes vLLM's client write a second result file, in the format of
// PyTorch's benchmarks.
const pyTorchVariable = "SAVE_TO_PYTORCH_BENCHMARK_FORMAT"

// vllmArguments are the names of all arguments of `vllm bench serve` 0.33.0 in Python, in the order
// of its parser.
const vllmArguments = `
	trust_remote_code seed num_prompts dataset_name no_stream dataset_path no_oversample
	skip_chat_template enable_multimodal_chat disable_shuffle custom_output_len
	custom_ensure_client_side_data spec_bench_output_len spec_bench_category sharegpt_output_len
	timed_trace_chunk_hash_size timed_trace_sec_multiplier timed_trace_label_timestamp
	timed_trace_label_input_length timed_trace_label_output_length timed_trace_label_hash_ids
	blazedit_min_distance blazedit_max_distance asr_max_audio_len_sec asr_min_audio_len_sec
	random_input_len random_output_len random_range_ratio random_prefix_len random_batch_size
	no_reranker random_mm_base_items_per_request random_mm_num_mm_items_range_ratio
	random_mm_limit_mm_per_prompt random_mm_bucket_config hf_subset hf_split hf_name hf_output_len
	bfcl_categories prefix_repetition_prefix_len prefix_repetition_suffix_len
	prefix_repetition_num_prefixes prefix_repetition_output_len speed_bench_dataset_subset
	speed_bench_output_len speed_bench_category label backend base_url host port endpoint header
	max_concurrency model input_len output_len tokenizer tokenizer_mode use_beam_search logprobs
	request_rate burstiness probe_request_rate disable_tqdm num_warmups profile save_result
	save_detailed append_result metadata result_dir result_filename ignore_eos self_timed
	percentile_metrics metric_percentiles goodput request_id_prefix top_p top_k min_p temperature
	frequency_penalty presence_penalty repetition_penalty served_model_name lora_modules lora_assignment
	ramp_up_strategy ramp_up_start_rps ramp_up_end_rps ready_check_timeout_sec chat_template_kwargs
	extra_body skip_tokenizer_init insecure plot_timeline timeline_itl_thresholds plot_dataset_stats`

// absentArguments are the values of missing arguments that differ from the default of the flag.
var absentArguments = map[string]any{
	"num_prompts": 1000, "percentile_metrics": nil, "request_rate": "inf", "timed_trace_sec_multiplier": 1,
	"blazedit_min_distance": 0.0, "blazedit_max_distance": 1.0, "asr_min_audio_len_sec": 0.0, "asr_max_audio_len_sec": "inf",
	"lora_assignment": "random", "random_batch_size": 1,
	"random_mm_base_items_per_request": 1, "random_mm_num_mm_items_range_ratio": 0.0,
	"random_mm_limit_mm_per_prompt": pyjson.Object{{Key: "image", Value: 255}, {Key: "video", Value: 1}},
	"random_mm_bucket_config": pyjson.Object{
		{Key: "(256, 256, 1)", Value: 0.5}, {Key: "(720, 1280, 1)", Value: 0.5}, {Key: "(720, 1280, 16)", Value: 0.0},
	},
}

// lengthArguments are the arguments that --output-len sets, as in vLLM's client.
var lengthArguments = []string{
	"random_output_len", "sharegpt_output_len", "custom_output_len", "hf_output_len", "spec_bench_output_len", "prefix_repetition_output_len",
}

// resolvePyTorch stores the arguments for the PyTorch file, if there is to be one.
func (f *form) resolvePyTorch() error {
	if os.Getenv(pyTorchVariable) == "" || !f.Results.Save && !f.Results.Append {
		return nil
	}
	args := pyjson.Object{}
	for name := range strings.FieldsSeq(vllmArguments) {
		value, err := f.argument(name)
		if err != nil {
			return err
		}
		args = append(args, pyjson.Member{Key: name, Value: value})
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

// argument is the value of an argument in Python, without secrets.
func (f *form) argument(name string) (any, error) {
	flag := f.flags.Lookup(strings.ReplaceAll(name, "_", "-"))
	values := f.flags.Shown(flag.Name)
	absent, known := absentArguments[name]
	switch {
	case flag.NoOptDefVal != "":
		return flag.Changed, nil
	case known && (values == nil || flag.Hidden): // a refused flag can only have its default
		return absent, nil
	case name == "header" && values != nil:
		return "***", nil
	case flag.Value.Type() == "stringArray":
		if values == nil {
			return nil, nil
		}
		return values, nil
	case values == nil && flag.DefValue == "":
		return nil, nil
	case values == nil:
		values = []string{flag.DefValue}
	}
	switch flag.Value.Type() {
	case "int", "int64", "*int":
		return argv.ParseInt(values[0])
	case "float64", "*float64":
		return argv.ParseFloat(values[0])
	case "pyjson.Object", "*jinja.Kwargs":
		return pyjson.Parse(values[0])
	}
	if name == "random_range_ratio" {
		return pyjson.Parse(values[0])
	}
	return values[0], nil
}
