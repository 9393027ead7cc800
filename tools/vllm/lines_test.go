//go:build vllm

package vllm_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What command lines have in common.
const (
	short      = " --dataset-name random --random-input-len 20 --random-output-len 6 --random-range-ratio 0.4 --num-prompts 9 "
	chat       = " --backend openai-chat --endpoint /v1/chat/completions "
	responses  = " --backend openai-responses --endpoint /v1/responses "
	embeddings = " --endpoint /v1/embeddings "
	audio      = " --backend openai-audio --endpoint /v1/audio/transcriptions "
	images     = " --dataset-name custom_image --dataset-path images.jsonl "
	someImages = " --dataset-name random-mm --random-input-len 8 --random-output-len 4 --num-prompts 4 --random-mm-bucket-config {(24,16,1):0.6,(31,45,1):0.4} "
	hub        = " --dataset-name hf --dataset-path "
)

// clientLines are command lines for both clients: each backend, each dataset, each class of hf, and the flags
// of both. The files are those of enterData.
var clientLines = []string{
	// Backends.
	short + "--backend vllm --logprobs 2 --seed 1",
	short + "--served-model-name m --top-p 0.9 --top-k 5 --min-p 0.1 --temperature 0 --frequency-penalty 0.25 --presence-penalty 0.5 --repetition-penalty 1.1 --extra-body {\"stop\":[\"x\"],\"top_p\":0.5} --seed 2",
	chat + short + "--temperature 0.5 --extra-body {\"chat_template_kwargs\":{\"enable_thinking\":false}} --goodput ttft:100 e2el:1000 --seed 3",
	responses + short + "--top-p 0.9 --extra-body {\"reasoning\":{\"effort\":\"low\"}} --seed 4",
	"--backend openai-embeddings" + embeddings + short + "--random-batch-size 2 --seed 5",
	"--backend openai-embeddings" + embeddings + short + "--extra-body {\"dimensions\":8} --temperature 1 --ignore-eos --percentile-metrics ttft,e2el --seed 6",
	"--backend openai-embeddings-chat" + embeddings + short + "--seed 7",
	"--backend openai-embeddings-chat" + embeddings + images + "--num-prompts 7 --seed 8",
	"--backend openai-embeddings-clip" + embeddings + images + "--num-prompts 6 --seed 9",
	"--backend openai-embeddings-vlm2vec" + embeddings + images + "--num-prompts 6 --num-warmups 1 --ready-check-timeout-sec 5 --seed 10",
	"--backend infinity-embeddings --endpoint /embeddings" + short + "--seed 11",
	"--backend infinity-embeddings-clip --endpoint /embeddings --dataset-name custom_image --dataset-path local.jsonl --num-prompts 3 --seed 12",
	"--backend vllm-pooling --endpoint /pooling" + short + "--random-batch-size 4 --seed 13",
	"--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank --random-input-len 40 --random-range-ratio 0.3 --num-prompts 11 --random-batch-size 3 --seed 14",
	audio + "--dataset-name custom_audio --dataset-path audio.jsonl --num-prompts 5 --extra-body {\"language\":\"de\",\"flag\":true} --seed 15",
	"--backend openai-audio --endpoint /v1/audio/translations --dataset-name custom_audio --dataset-path audio.jsonl --num-prompts 2 --ignore-eos --custom-output-len 5 --skip-chat-template --seed 16",

	// Datasets.
	short + "--random-prefix-len 7 --num-warmups 2 --ready-check-timeout-sec 5 --profile --seed 17",
	chat + "--dataset-name sharegpt --dataset-path share.json --num-prompts 20 --enable-multimodal-chat --seed 18",
	chat + "--dataset-name sharegpt --dataset-path share.json --num-prompts 30 --sharegpt-output-len 5 --seed 19",
	"--dataset-name burstgpt --dataset-path burst.csv --num-prompts 12 --seed 20",
	"--dataset-name custom --dataset-path prompts.jsonl --num-prompts 12 --custom-output-len 5 --request-rate 200 --burstiness 0.5 --seed 21",
	"--dataset-name custom --dataset-path prompts.jsonl --num-prompts 3 --custom-output-len -1 --skip-chat-template --disable-shuffle --no-oversample --seed 22",
	"--dataset-name prefix_repetition --prefix-repetition-prefix-len 20 --prefix-repetition-suffix-len 8 --prefix-repetition-num-prefixes 3 --prefix-repetition-output-len 4 --num-prompts 10 --seed 23",
	"--dataset-name spec_bench --dataset-path spec.jsonl --spec-bench-category math --num-prompts 15 --seed 24",
	"--dataset-name speed_bench --dataset-path . --speed-bench-category coding --num-prompts 15 --seed 25",
	"--dataset-name timed_trace --dataset-path trace.jsonl --timed-trace-sec-multiplier 0.001 --num-prompts 20 --self-timed --seed 26",
	"--dataset-name timed_trace --dataset-path trace.jsonl --num-prompts 20 --no-self-timed --request-rate 500 --seed 27",
	chat + someImages + "--random-mm-base-items-per-request 2 --random-mm-num-mm-items-range-ratio 0.5 --seed 28",
	chat + someImages + "--random-mm-limit-mm-per-prompt {\"image\":1} --random-mm-base-items-per-request 3 --random-mm-num-mm-items-range-ratio 0.9 --enable-multimodal-chat --seed 29",
	"--backend openai-embeddings" + embeddings + "--dataset-name random-rerank --no-reranker --random-input-len 15 --num-prompts 10 --random-batch-size 3 --seed 30",
	chat + images + "--num-prompts 12 --seed 31",
	chat + images + "--num-prompts 5 --enable-multimodal-chat --custom-output-len -1 --seed 32",
	chat + "--dataset-name custom_image --dataset-path interleaved.jsonl --num-prompts 4 --seed 33",
	chat + "--dataset-name custom_image --dataset-path interleaved.jsonl --num-prompts 4 --enable-multimodal-chat --seed 34",
	chat + "--dataset-name custom_image --dataset-path local.jsonl --num-prompts 3 --custom-ensure-client-side-data --seed 35",
	chat + "--dataset-name custom_audio --dataset-path audio.jsonl --num-prompts 3 --enable-multimodal-chat --seed 36",

	// Classes of hf.
	chat + hub + "lmarena-ai/VisionArena-Chat --num-prompts 8 --seed 40",
	chat + hub + "lmarena-ai/vision-arena-bench-v0.1 --num-prompts 14 --enable-multimodal-chat --seed 41",
	chat + hub + "yale-nlp/MMVU --num-prompts 5 --seed 42",
	hub + "likaixin/InstructCoder --num-prompts 14 --seed 43",
	hub + "philschmid/mt-bench --num-prompts 6 --no-stream --seed 44",
	hub + "openai/openai_humaneval --num-prompts 6 --hf-output-len 7 --skip-chat-template --seed 45",
	hub + "openai/gsm8k --num-prompts 20 --disable-shuffle --seed 46",
	chat + hub + "lmms-lab/LLaVA-OneVision-Data --hf-split train --num-prompts 6 --seed 47",
	hub + "Aeala/ShareGPT_Vicuna_unfiltered --hf-split train --num-prompts 6 --seed 48",
	hub + "AI-MO/aimo-validation-aime --num-prompts 6 --seed 49",
	hub + "zed-industries/zeta --num-prompts 6 --seed 50",
	audio + hub + "openslr/librispeech_asr --num-prompts 9 --seed 51",
	audio + hub + "ArtificialAnalysis/Earnings22-Cleaned-AA --num-prompts 4 --asr-max-audio-len-sec 0.2 --seed 52",
	hub + "vdaita/edit_5k_char --num-prompts 4 --blazedit-min-distance 0.3 --blazedit-max-distance 0.8 --no-oversample --seed 53",
	hub + "mgoin/mlperf-inference-llama2-data --num-prompts 6 --seed 54",
	chat + hub + "Lin-Chen/MMStar --num-prompts 6 --enable-multimodal-chat --seed 55",
	chat + hub + "gorilla-llm/Berkeley-Function-Calling-Leaderboard --num-prompts 7 --bfcl-categories simple,multiple --extra-body {\"tool_choice\":\"required\"} --seed 56",
	"--backend openai-embeddings-chat" + embeddings + hub + "lmarena-ai/VisionArena-Chat --num-prompts 4 --seed 57",

	// Files of hf.
	hub + "many/parquet --hf-name openai/openai_humaneval --num-prompts 60 --seed 70",
	hub + "many/parquet --hf-name openai/openai_humaneval --num-prompts 60 --no-stream --seed 71",
	hub + "many/json --hf-name openai/openai_humaneval --num-prompts 60 --seed 72",
	hub + "one/json --hf-name openai/openai_humaneval --num-prompts 6 --seed 73",
	hub + "one/csv --hf-name openai/openai_humaneval --num-prompts 6 --seed 74",
	hub + "one/arrow --hf-name openai/openai_humaneval --num-prompts 6 --seed 75",

	// Flags around the load.
	short + "--lora-modules one two three --seed 60",
	chat + "--dataset-name sharegpt --dataset-path share.json --num-prompts 20 --lora-modules one two --num-warmups 1 --seed 61",
	"--dataset-name prefix_repetition --prefix-repetition-prefix-len 6 --prefix-repetition-suffix-len 4 --num-prompts 10 --lora-modules one two three --lora-assignment round-robin --seed 62",
	"--backend openai-embeddings" + embeddings + short + "--random-batch-size 2 --lora-modules one two --seed 63",
	short + "--request-rate 100 --probe-request-rate 50 --percentile-metrics ttft,tpot,itl,e2el,client_queue_time --seed 64",
	short + "--ramp-up-strategy exponential --ramp-up-start-rps 20 --ramp-up-end-rps 90 --metadata a=b --header X-A=1 --seed 65",
	"--dataset-name custom --dataset-path prompts.jsonl --num-prompts 5 --skip-chat-template --custom-output-len -1 --temperature 0 --header X-A=1 authorization=Basic --seed 66",
}

// TestClientsAgree runs both clients by each command line against a server that notes requests.
// They must send the same, print the same lines and write the same keys with the same totals, but for
// what the table of allowances has.
func TestClientsAgree(t *testing.T) {
	program := newOurs(t, "latest")
	enterData(t)
	rows := make([]agreement, len(clientLines))
	next := make(chan int)
	var workers sync.WaitGroup
	for range 4 { // a client mostly waits
		workers.Go(func() {
			latest, server := pair{release: "0.33.0", theirs: newTheirs(t, venv()), ours: program}, newRecorder(t)
			for i := range next {
				row := &rows[i]
				row.argv = strings.Fields(clientLines[i])
				t.Run(fmt.Sprint(i+1), func(t *testing.T) {
					t.Log(strings.Join(row.argv, " "))
					argv := append(slices.Clone(row.argv), "--base-url", server.URL, "--model", "m", "--tokenizer", "tok-bos", "--max-concurrency", "3")
					row.requests, row.differences, _ = compareClients(t, &server.journal, latest, argv, func() {})
					row.same = !t.Failed()
				})
			}
		})
	}
	for i := range clientLines {
		next <- i
	}
	close(next)
	workers.Wait()
	reportAgreements(t, rows)
}

// reportAgreements prints how many command lines were the same, and which were not. If all were, the table of them
// has to be that of the documentation.
func reportAgreements(t *testing.T, rows []agreement) {
	t.Helper()
	same := 0
	for i, row := range rows {
		if row.same {
			same++
		} else {
			fmt.Printf("%d is not the same: %s\n", i+1, strings.Join(row.argv, " "))
		}
	}
	fmt.Printf("%d of %d command lines are the same\n", same, len(rows))
	if same == len(rows) {
		compareTable(t, parityTable(rows))
	}
}

// compareClients runs a command line with both clients in turn and compares what a journal saw
// of them, what they printed and what they saved. It gives the number of requests, the differences on purpose,
// and vLLM's result.
func compareClients(t *testing.T, server *journal, p pair, argv []string, before func()) (requests int, differences []string, their *results) {
	t.Helper()
	server.take() // what a run before this one has left
	before()
	their = p.theirs.run(t, argv)
	theySent, theirCalls := server.take()
	before()
	our := p.ours.run(t, argv)
	weSent, ourCalls := server.take()
	theyRead, weRead := dropReads(&theySent), dropReads(&weSent)
	for _, a := range allowances {
		if a.applies(argv) {
			var they, we bool
			theySent, theirCalls, they = a.allow(theySent, theirCalls)
			if weSent, ourCalls, we = a.allow(weSent, ourCalls); they || we {
				differences = append(differences, a.what)
			}
		}
	}
	if slices.Contains(argv, "--probe-request-rate") {
		// There are as many probes, one like the other, as a run has time for.
		theySent, weSent = slices.CompactFunc(theySent, alike), slices.CompactFunc(weSent, alike)
	}
	if diff := cmp.Diff(theySent, weSent); diff != "" || weRead > theyRead {
		t.Errorf("not the same requests, and vLLM reads /metrics %d times, servebench %d (-vLLM's +ours):\n%s", theyRead, weRead, diff)
	}
	if diff := cmp.Diff(theirCalls, ourCalls); diff != "" {
		t.Errorf("not the same order of calls (-vLLM's +ours):\n%s", diff)
	}
	compareRuns(t, their, our)
	return len(theySent), differences, their
}

func alike(a, b seen) bool { return cmp.Equal(a, b) }

// dropReads takes the reads of /metrics from requests, and says how many there
// were: vLLM reads anew what servebench takes of one reading.
func dropReads(requests *[]seen) int {
	n := len(*requests)
	*requests = slices.DeleteFunc(*requests, func(r seen) bool { return r.Method+" "+r.Path == readMetrics })
	return n - len(*requests)
}

// A pair is a release's own client and servebench as that release.
type pair struct {
	release string
	theirs  client
	ours    client
}

// compareRuns holds what two runs of one command line printed and left in their
// result files against each other.
func compareRuns(t *testing.T, their, our *results) {
	t.Helper()
	if diff := cmp.Diff(labels(printed(their.stdout)), labels(printed(our.stdout))); diff != "" {
		t.Errorf("not the same lines (-vLLM's +ours):\n%s", diff)
	}
	// What servebench adds stands at the end.
	ours := our.keys[:min(len(their.keys), len(our.keys))]
	if diff := cmp.Diff(their.keys, ours); diff != "" {
		t.Errorf("not the same keys (-vLLM's +ours):\n%s", diff)
	}
	a, b := their.file, our.file
	if [...]int{a.Completed, a.Failed, a.Input, a.Output, a.Sequences} != [...]int{b.Completed, b.Failed, b.Input, b.Output, b.Sequences} {
		t.Errorf("vLLM has %d completed, %d failed, %d and %d tokens, %d inputs, servebench %d, %d, %d, %d and %d",
			a.Completed, a.Failed, a.Input, a.Output, a.Sequences, b.Completed, b.Failed, b.Input, b.Output, b.Sequences)
	}
	if !slices.Equal(a.InputLens, b.InputLens) || !slices.Equal(a.Outputs, b.Outputs) {
		t.Error("not the same tokens of each request")
	}
}
