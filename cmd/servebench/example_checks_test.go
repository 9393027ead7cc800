package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sweep"
)

// What the header says, needs in the file says, too, so that --check looks for it.
func TestExamplesNeedWhatTheirHeadersSay(t *testing.T) {
	for _, file := range exampleFiles(t) {
		header, text := exampleHeader(t, file)
		needs := examplePlan(t, file).Needs
		if forSim(file) {
			if !reflect.DeepEqual(needs, sweep.Needs{}) {
				t.Errorf("%s needs %+v", file, needs)
			}
			continue
		}
		for _, want := range []struct {
			text string
			is   bool
		}{
			{fmt.Sprintf("GPU memory: %g GB", needs.GPU.Memory), true},
			{"servebench sweep " + file + " --check", true},
			{"HF_TOKEN: needed", strings.Contains(text, "meta-llama/")},
			{"vLLM: 0.30.0", needs.VLLM == sweep.VLLMNeeds{From: "0.29", Below: "0.31"}},
			{"kvcached==0.1.6", slices.Contains(needs.Python, "kvcached")},
			{"vLLM: 0.33.0", needs.VLLM == sweep.VLLMNeeds{From: "0.33"}},
		} {
			if strings.Contains(header, want.text) != want.is {
				t.Errorf("%s: %q is in the header: %v, want %v by its needs", file, want.text, !want.is, want.is)
			}
		}
	}
}

// On a machine without a GPU and without vLLM, --check names all that an example for a GPU lacks, and
// nothing of the examples on the simulator.
func TestExamplesAreCheckedWithoutAGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the examples are for a shell")
	}
	files := exampleFiles(t)
	bare := t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "servebench"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bare)
	t.Setenv("PYTHON", "")
	for _, file := range files {
		cmd := newSweepCommand()
		cmd.SetArgs([]string{file, "--check", "-o", filepath.Join(bare, "check.sweep")}) // who follows the docs has folders here
		var out strings.Builder
		cmd.SetOut(&out)
		cmd.SetErr(io.Discard)
		err := cmd.ExecuteContext(t.Context())
		if forSim(file) {
			if err != nil {
				t.Errorf("%s: %v\n%s", file, err, out.String())
			}
			continue
		}
		if exit, ok := errors.AsType[exitError](err); !ok || exit.code != exitNo {
			t.Errorf("%s: %v, want exit code 1", file, err)
		}
		for _, want := range absences(t, file) {
			if n := len(regexp.MustCompile("(?m)^MISSING "+want).FindAllString(out.String(), -1)); n != 1 {
				t.Errorf("%s: %d lines for %q, want one:\n%s", file, n, want, out.String())
			}
		}
	}
}

// absences are the beginnings of the lines about what nothing but vLLM on a GPU has.
func absences(t *testing.T, file string) []string {
	t.Helper()
	_, text := exampleHeader(t, file)
	want := []string{"program +vllm ", "GPU +no GPU is seen"}
	for _, of := range []struct{ text, line string }{
		{`ENABLE_KVCACHED: "true"`, "python +kvcached "}, {"torch", "python +torch "}, {"python:", "program +python3 "},
		{"CUDA_MPS_PIPE", "program +nvidia-cuda-mps-control "},
	} {
		if strings.Contains(text, of.text) {
			want = append(want, of.line)
		}
	}
	return want
}
