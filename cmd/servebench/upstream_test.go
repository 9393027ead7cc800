package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A vllmArgument is an argument of vLLM's client, from the snapshot of its parser.
type vllmArgument struct {
	Name, Words, Type string
	Flags, Choices    []string
	Default           json.RawMessage
}

func vllmArguments(t *testing.T) []vllmArgument {
	t.Helper()
	data, err := os.ReadFile("internal/upstream/vllm-0.33.0.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Arguments []vllmArgument }
	if err := json.Unmarshal(data, &file); err != nil || len(file.Arguments) != 101 {
		t.Fatalf("%d arguments: %v", len(file.Arguments), err)
	}
	return file.Arguments
}

// samples are words that flags of vLLM's client take where their type does not tell one.
var samples = map[string]string{
	"--goodput": "ttft:100", "--header": "A=b", "--metadata": "a=b", "--base-url": "http://h:1", "--percentile-metrics": "ttft,e2el", "--metric-percentiles": "50,99",
	"--random-range-ratio": "0.5", "--timeline-itl-thresholds": "25,50", "--random-mm-bucket-config": "{(256, 256, 1): 1}", "--tokenizer-mode": "hf",
	"--random-mm-limit-mm-per-prompt": `{"image": 3}`, "--random-mm-num-mm-items-range-ratio": "0.5",
}

// Each flag of the snapshot is accepted, with each of its choices, or with a word of its type.
func TestEveryFlagOfVLLMIsAccepted(t *testing.T) {
	for _, a := range vllmArguments(t) {
		for _, flag := range a.Flags {
			for _, words := range wordsFor(&a, flag) {
				f := emptyForm()
				if err := f.flags.Parse(append([]string{flag}, words...)); err != nil {
					t.Errorf("%s %q: %v", flag, words, err)
				}
			}
		}
	}
}

// wordsFor are command lines of a flag: the words that may follow it.
func wordsFor(a *vllmArgument, flag string) (lines [][]string) {
	sample, ok := samples[flag]
	switch {
	case a.Words == "0":
		return [][]string{nil}
	case a.Choices != nil:
		for _, choice := range a.Choices {
			lines = append(lines, []string{choice})
		}
		return lines
	case ok:
		return [][]string{{sample}}
	}
	return [][]string{{map[string]string{"int": "1", "float": "0.5", "loads": "{}", "str": "x", "<lambda>": "x"}[a.Type]}}
}

// Without a flag its value is vLLM's.
func TestEveryDefaultIsVLLMs(t *testing.T) {
	flags := emptyForm().flags
	for _, a := range vllmArguments(t) {
		name := strings.TrimPrefix(a.Flags[0], "--")
		flag := flags.Lookup(name)
		if flag == nil {
			continue
		}
		want := strings.Trim(string(a.Default), `"`)
		switch got := flag.DefValue; {
		case name == "percentile-metrics": // vLLM has none, and then means these
			want = "ttft,tpot,itl"
		case want == "null" && got == "[]":
			want = got
		case want == "null":
			want = ""
		}
		if got := flag.DefValue; got != want && !sameNumber(got, want) {
			t.Errorf("--%s is %q without the flag, vLLM's %q", name, got, want)
		}
	}
}

func sameNumber(a, b string) bool {
	x, err := argv.ParseFloat(a)
	y, err2 := argv.ParseFloat(b)
	return err == nil && err2 == nil && x == y
}

// Every argument is in the file for PyTorch, as this command line sets it.
func TestPyTorchFileHasEveryArgument(t *testing.T) {
	t.Setenv(pyTorchVariable, "1")
	o := mustParse(t, "--save-result --input-len 7 --output-len 5 --request-rate 3 --goodput ttft:5 e2el:7 --header A=b --result-dir", t.TempDir())
	if got, want := len(o.Results.PyTorch), len(vllmArguments(t)); got != want {
		t.Errorf("%d arguments, want %d", got, want)
	}
	for key, want := range map[string]string{
		"random_input_len": "7", "input_len": "7", "hf_output_len": "5", "request_rate": "3.0",
		"goodput": `["ttft:5", "e2el:7"]`, "header": `"***"`, "ignore_eos": "true", "self_timed": "false", "model": "null",
	} {
		value, _ := o.Results.PyTorch.Get(key)
		if got := string(pyjson.Append(nil, value)); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}
