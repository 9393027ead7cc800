package main

import (
	"strings"
	"testing"
)

// Texts that begin with a capital are vLLM's own.
func TestBadInputIsRefusedByName(t *testing.T) {
	const sharegpt = "--dataset-name sharegpt --dataset-path x.json "
	const custom = "--dataset-name custom --skip-chat-template "
	const audio = "--backend openai-audio --endpoint /v1/audio/transcriptions "
	const sounds = "--dataset-name custom_audio --dataset-path x.jsonl "
	const mm = "--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm "
	const several = "--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank "
	for args, want := range map[string]string{
		"--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2 --request-rate 5": "When using ramp-up, do not specify --request-rate. The request rate will be controlled by ramp-up parameters. Please remove the --request-rate argument.",
		"--ramp-up-strategy linear --ramp-up-start-rps 1":                                      "When using --ramp-up-strategy, both --ramp-up-start-rps and --ramp-up-end-rps must be specified",
		"--ramp-up-strategy linear --ramp-up-start-rps -1 --ramp-up-end-rps 2":                 "Ramp-up start and end RPS must be non-negative",
		"--ramp-up-strategy linear --ramp-up-start-rps 3 --ramp-up-end-rps 2":                  "Ramp-up start RPS must be less than end RPS",
		"--ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 2":             "For exponential ramp-up, the start RPS cannot be 0.",
		"--ramp-up-strategy linear --ramp-up-start-rps 0 --ramp-up-end-rps 2":                  "the start RPS cannot be 0",
		"--ramp-up-end-rps 2":                                   "need --ramp-up-strategy",
		"--request-rate -1":                                     "argument --request-rate: -1.0: it must be greater than 0, or inf",
		"--request-rate 0":                                      "argument --request-rate: 0.0: it must be greater than 0, or inf",
		"--request-rate nan":                                    "argument --request-rate: nan",
		"--burstiness 0":                                        "argument --burstiness: 0.0",
		"--max-concurrency 0":                                   "--max-concurrency must be greater than 0",
		"--num-warmups -1":                                      "argument --num-warmups",
		"--ready-check-timeout-sec -1":                          "argument --ready-check-timeout-sec",
		"--num-prompts 0":                                       "argument --num-prompts: 0: it must be greater than 0",
		sharegpt + "--num-prompts 0":                            "argument --num-prompts: 0: it must be greater than 0",
		"--seed -1":                                             "argument --seed: -1: it must be from 0 to 4294967295",
		"--vocab-size 0":                                        "argument --vocab-size",
		"--random-input-len -1":                                 "argument --random-input-len: -1",
		"--random-output-len -1":                                "argument --random-output-len: -1",
		"--random-prefix-len -1":                                "argument --random-prefix-len: -1",
		"--random-range-ratio 1":                                "argument --random-range-ratio: 1.0: it must be from 0 to below 1",
		"--random-range-ratio {\"input\":.1}":                   `argument --random-range-ratio: '{"input":.1}': it must be a number, or an object like`,
		"--random-range-ratio.input 0.1":                        "argument --random-range-ratio",
		"--dataset-path x.json":                                 "Cannot use 'random' dataset with --dataset-path. Please specify the appropriate --dataset-name",
		"--dataset-name sharegpt":                               "argument --dataset-name: sharegpt needs --dataset-path",
		sharegpt + "--sharegpt-output-len 0":                    "argument --sharegpt-output-len: 0",
		sharegpt + "--skip-tokenizer-init":                      "argument --skip-tokenizer-init: the sharegpt dataset needs a tokenizer",
		"--skip-tokenizer-init":                                 "argument --skip-tokenizer-init: without a tokenizer the random dataset needs --prompt-token-ids",
		custom + "--dataset-path x.json":                        "must end with .jsonl",
		custom + "--dataset-path x.jsonl --custom-output-len 0": "argument --custom-output-len: 0",
		"--dataset-name burstgpt --dataset-path x.json":         "argument --dataset-path: 'x.json': a burstgpt dataset's name must end with .csv",
		"--dataset-name sonnet --dataset-path x --skip-tokenizer-init":             "argument --skip-tokenizer-init: the sonnet dataset needs a tokenizer",
		"--dataset-name prefix_repetition --dataset-path x":                        "Cannot use 'prefix_repetition' dataset with --dataset-path.",
		"--dataset-name file --dataset-path x --prompt-token-ids":                  "argument --prompt-token-ids: what a file holds is sent as it is",
		"--chat-template-kwargs 7":                                                 "argument --chat-template-kwargs: chat template arguments must be a JSON object",
		"--backend openai-chat --endpoint /v1/completions":                         "argument --endpoint: '/v1/completions': it must end with chat/completions: --backend openai-chat needs --endpoint /v1/chat/completions",
		"--endpoint /v1/embeddings":                                                "argument --endpoint: '/v1/embeddings': it must end with completions: --backend openai needs --endpoint /v1/completions",
		"--backend openai-chat --endpoint /v1/chat/completions --prompt-token-ids": "argument --prompt-token-ids: chat takes no token ids",
		"--base-url ftp://h":                                                       "argument --base-url: 'ftp://h': it must be http://HOST:PORT or https://HOST, with a path and a query",
		"--base-url http://h?a#b":                                                  "argument --base-url: a query holds no space, line end or #: write them as %20, %0A and %23",
		"--host http://gpu1":                                                       "argument --host: 'http://gpu1': it must be a name or an address: give a URL as --base-url",
		"--host me@gpu1":                                                           "argument --host: '<redacted>@gpu1': it must be a name or an address",
		"--client-key k":                                                           "argument --client-key: it is the key of a certificate: give --client-cert, too",
		"--ca-cert c --insecure":                                                   "argument --ca-cert: --insecure trusts any certificate: give one of the two",
		"--base-url http://":                                                       "argument --base-url: 'http://': it must be",
		"--base-url http://h/#a":                                                   "argument --base-url",
		"--base-url http://h:port":                                                 "argument --base-url: invalid port",
		"--base-url localhost:x":                                                   "argument --base-url: invalid port \":x\" after host",
		"--host gpu1:9101 --port 8000":                                             "argument --host: 'gpu1:9101': --port 8000 says another port: give one of the two",
		"--dataset-name sessions --session-agent-share 1.5":                        "argument --session-agent-share: 1.5: it must be from 0 to 1",
		"--dataset-name sessions --session-growth -1":                              "argument --session-growth: -1.0: it must be from 0 to 100",
		"--dataset-name sessions --session-system-bias 100":                        "argument --session-system-bias: 100.0: it must be at least 0 and below 100",
		"--dataset-name sessions --session-systems -1":                             "argument --session-systems: -1: it must not be negative",
		"--host me:pw@gpu1":                                                        "argument --host: 'me:<redacted>@gpu1': what follows the colon must be a port, from 1 to 65535",
		"--port 0":                                                                 "argument --port: 0: it must be from 1 to 65535",
		"--header foo":                                                             "argument --header: Invalid header format. Please use KEY=VALUE format. (a word has no =: write it as --header Authorization='Bearer KEY')",
		"--metadata foo":                                                           "argument --metadata: Invalid metadata format. Please use KEY=VALUE format.",
		"--goodput itl:5":                                                          "argument --goodput: Invalid metric name found, itl: 5.0. The service level objective name should be one of ['ttft', 'tpot', 'e2el'].",
		"--goodput ttft:-5":                                                        "argument --goodput: Invalid value found, ttft: -5.0. The service level objective value should be non-negative.",
		"--goodput ttft":                                                           "argument --goodput: Invalid format found for service level objectives.",
		"--goodput ttft:1:2":                                                       "argument --goodput: Invalid format found for service level objectives.",
		"--metric-percentiles 50,101":                                              "argument --metric-percentiles: 101.0: a percentile must be from 0 to 100",
		"--metric-percentiles 50,":                                                 "argument --metric-percentiles: invalid float value: ''",
		"--extra-body {\"a\":":                                                     `argument --extra-body: invalid JSON value: '{"a":': it ends in the middle`,
		"--extra-body {a:1}":                                                       `argument --extra-body: invalid JSON value: '{a:1}': at byte`,
		"--extra-body [1]":                                                         "argument --extra-body: invalid value: '[1]': it must be a JSON object",
		"--vllm-version new":                                                       "argument --vllm-version: \"new\": must be latest or a release from 0.4.0 on",
		"--connect-timeout -1":                                                     "argument --connect-timeout: invalid duration: '-1': it must not be negative",
		"--extra-body.a":                                                           "argument --extra-body.a: expected one argument",
		"--config /nonexistent.yaml":                                               "argument --config: open /nonexistent.yaml: no such file or directory",
		"--backend tgi":                                                            "argument --backend: servebench has no tgi yet (it has vllm, openai, openai-chat, openai-responses,",
		"--dataset-name custom_mm":                                                 "argument --dataset-name: servebench has no custom_mm yet (it has random, random-mm, random-rerank,",
		"--tokenizer-mode mistral":                                                 "argument --tokenizer-mode: servebench has no mistral yet (it has auto, hf)",
		"--probe-request-rate -1":                                                  "argument --probe-request-rate: -1.0: it must be a number of requests a second",
		"--probe-request-rate inf":                                                 "argument --probe-request-rate: inf",
		"--rate-curve zigzag":                                                      `argument --rate-curve: "zigzag": it must be one of up-down:0,20,1,step=1, points:`,
		"--rate-curve up-down:1,2 --request-rate 5":                                "argument --rate-curve: it takes the place of --request-rate",
		"--rate-curve up-down:1,2 --arrival-rule 0.9.2":                            "argument --rate-curve: --arrival-rule 0.9.2 knows none",
		"--rate-curve up-down:1,2 --ramp-up-strategy linear":                       "argument --rate-curve: it takes the place of --ramp-up-strategy",
		"--rate-curve sine:mean=1,amplitude=1,period=9":                            "argument --rate-curve: a sine has no end: also give --duration or --num-prompts",
		"--rate-curve steps:0=0,9=1":                                               "argument --rate-curve: no request comes within 9s",
		"--rate-curve up-down:1,2 --dataset-name timed_trace --dataset-path x": "argument --rate-curve: the timed_trace dataset has its own times",
		"--duration 10s":       "argument --duration: at an infinite rate it bounds nothing",
		"--duration -1":        "argument --duration: invalid duration: '-1'",
		"--warmup-duration 5s": "argument --warmup-duration: at an infinite rate there would be no end of requests",
		"--warmup-duration 5s --dataset-name timed_trace --dataset-path x": "argument --warmup-duration: the timed_trace dataset has its own times",
		"--self-timed":                                       "argument --self-timed: the random dataset has no times",
		"--random-mm-bucket-config {":                        `argument --random-mm-bucket-config: "{": it must be like {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}`,
		"--dataset-name random-mm":                           "argument --dataset-name: random-mm sends images, which --backend openai does not take: it needs --backend openai-chat",
		mm + "--skip-tokenizer-init":                         "argument --skip-tokenizer-init: the random-mm dataset needs a tokenizer to make its prompts",
		mm + "--random-mm-bucket-config {(8,8,2):1}":         "argument --random-mm-bucket-config: (8, 8, 2) is a video, and servebench has no encoder for videos, as none is written in Go: give it the weight 0",
		mm + `--random-mm-limit-mm-per-prompt {"image":"a"}`: `argument --random-mm-limit-mm-per-prompt: image: invalid int value: '"a"'`,
		mm + "--random-mm-base-items-per-request 300":        "argument --random-mm-base-items-per-request: each request has at least 300 items, and --random-mm-limit-mm-per-prompt allows 255",
		audio: "argument --backend: openai-audio takes a sound with each request, and the random dataset has none: take --dataset-name custom_audio, or hf with speech",
		audio + "--dataset-name hf --dataset-path openai/gsm8k":                                                          "argument --dataset-path: --backend openai-audio takes a sound with each request, and its rows have none",
		"--backend openai-chat --endpoint /v1/chat/completions --dataset-name hf --dataset-path openslr/librispeech_asr": "argument --dataset-path: its rows have speech, which --backend openai-chat does not take as files: it needs --backend openai-audio",
		audio + "--dataset-name hf --dataset-path openslr/librispeech_asr --asr-min-audio-len-sec -1":                    "argument --asr-min-audio-len-sec: -1.0: it must not be negative",
		audio + "--dataset-name hf --dataset-path openslr/librispeech_asr --asr-max-audio-len-sec nan":                   "argument --asr-max-audio-len-sec: nan: it must not be negative",
		audio + sounds + "--enable-multimodal-chat":                                                                      "argument --enable-multimodal-chat: it puts sounds into a chat, and --backend openai-audio takes files",
		audio + sounds + "--probe-request-rate 1":                                                                        "argument --probe-request-rate: probes have no sound, which --backend openai-audio needs",
		audio + sounds + "--top-k 1":                                                                                     "argument --top-k: --backend openai-audio takes no sampling flags",
		"--backend openai-audio --endpoint /v1/completions " + sounds:                                                    "argument --endpoint: '/v1/completions': it must end with transcriptions or translations: --backend openai-audio needs --endpoint /v1/audio/transcriptions",
		"--backend openai-chat --endpoint /v1/chat/completions " + sounds:                                                "argument --dataset-name: custom_audio sends files, which --backend openai-chat does not take: also give --enable-multimodal-chat",
		sounds + "--custom-output-len 0":                                                                                 "argument --custom-output-len: 0: it must be greater than 0, or -1",
		sounds + "--prompt-token-ids":                                                                                    "argument --prompt-token-ids: token ids have no sounds: take --dataset-name custom",
		"--dataset-name custom_audio --dataset-path x.json":                                                              "argument --dataset-path: 'x.json': a custom_audio dataset's name must end with .jsonl",
		"--dataset-name custom_image --dataset-path x.json":                                                              "argument --dataset-path: 'x.json': a custom_image dataset's name must end with .jsonl",
		"--dataset-name custom_image --dataset-path x.jsonl --custom-output-len 0":                                       "argument --custom-output-len: 0: it must be greater than 0, or -1",
		"--dataset-name custom_image --dataset-path x.jsonl --prompt-token-ids":                                          "argument --prompt-token-ids: token ids have no images: take --dataset-name custom",
		"--timeline-itl-thresholds 50,25":                                                                                "argument --timeline-itl-thresholds: invalid thresholds: '50,25': they must be two numbers of milliseconds, the lower first, as 25,50",
		"--timeline-itl-thresholds 25":                                                                                   "argument --timeline-itl-thresholds: invalid thresholds: '25'",
		"--timeline-itl-thresholds nan,50":                                                                               "argument --timeline-itl-thresholds: invalid thresholds: 'nan,50'",
		"--timeline-itl-thresholds 25,x":                                                                                 "argument --timeline-itl-thresholds: invalid float value: 'x'",
		"--random-batch-size 0":                                                                                          "argument --random-batch-size: 0: it must be greater than 0",
		several + "--prompt-token-ids":                                                                                   "argument --prompt-token-ids: requests with several prompts are sent as text",
		several + "--skip-tokenizer-init":                                                                                "argument --skip-tokenizer-init: requests with several prompts need a tokenizer",
		several + "--no-reranker":                                                                                        "argument --random-batch-size: with --no-reranker the query is one of the prompts: it and --num-prompts must be at least 2",
		several + "--dataset-path x":                                                                                     "argument --dataset-path: Cannot use 'random-rerank' dataset with --dataset-path.",
		"--random-batch-size 2 --prompt-token-ids":                                                                       "argument --prompt-token-ids: requests with several prompts are sent as text",
	} {
		if o, err := parseRun(strings.Fields(args)); err == nil {
			t.Errorf("%s was accepted as %+v", args, o)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %s\nwant %s", args, err, want)
		}
	}
}

func TestAskingForNothingIsNotRefused(t *testing.T) {
	mustParse(t, "--random-batch-size 1 --probe-request-rate 0 --lora-assignment random "+
		"--tokenizer-mode hf --trust-remote-code --use-beam-search")
}
