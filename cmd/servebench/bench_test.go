package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
)

func TestAnErrorUnderWayLosesNoResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, wait := startSim(t, ctx)
	defer func() {
		cancel()
		if err := wait(); err != nil {
			t.Error(err)
		}
	}()
	o, err := parseRun([]string{"--base-url", url, "--disable-tqdm"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	b := &bench{options: o, out: &out, talk: io.Discard, patience: time.Minute, results: new(results)}
	if err := b.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	// Five long prompts fill the queue, so that the run has begun when the sixth fails.
	bad := errors.New("line 6 is bad")
	b.source = func(yield func(*dataset.Conversation, error) bool) {
		for range 5 {
			if !yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: strings.Repeat("x", 8<<20), OutputLen: 1}}}, nil) {
				return
			}
		}
		yield(nil, bad)
	}
	sums, err := (&trial{benches: []*bench{b}, talk: io.Discard}).measure(ctx)
	if !errors.Is(err, bad) || len(sums) != 1 || !sums[0].Interrupted || sums[0].Completed+sums[0].Failed == 0 {
		t.Fatalf("%v, %+v", err, sums)
	}
}

func TestSecretsThatTheServerQuotesAreNotShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("no such key: %s, %s", r.Header.Get("Authorization"), r.Header.Get("X-Key")), http.StatusUnauthorized)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "s3cret-key")
	dir := t.TempDir()
	argv := []string{"--model", "m", "--base-url", server.URL, "--header", "X-Key=s3cret-value", "--num-prompts", "2", "--prompt-token-ids",
		"--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", dir, "--result-filename", "r.json", "-o", filepath.Join(dir, "r.jsonl")}
	o, err := parseRun(argv)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = newExperiment(o, &out, &out).run(t.Context())
	shown := fmt.Sprint(err, out.String())
	for _, name := range []string{"r.json", "r.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		shown += string(text)
	}
	if strings.Contains(shown, "s3cret") || strings.Count(shown, "no such key: Bearer <redacted>, <redacted>") < 4 {
		t.Errorf("shown: %s", shown)
	}
}

func TestSilentServerIsNamed(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := "http://" + silent.Addr().String()
	for argv, path := range map[string]string{"": "/v1/models", "--model m --tokenizer stub-100": "/metrics"} {
		o, err := parseRun(append(strings.Fields(argv), "--base-url", url))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e := newExperiment(o, &out, &out)
		e.patience = 20 * time.Millisecond
		err = e.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), url+path+": no answer within 20ms") {
			t.Errorf("%q: %v", argv, err)
		}
	}
}

func TestFewModelsAreNamed(t *testing.T) {
	var models []loadgen.Model
	for i := range 3000 {
		models = append(models, loadgen.Model{ID: fmt.Sprint("m", i)})
	}
	if got := someOf(models); got != "m0, m1, m2, m3, m4, m5, m6, m7, and 2992 more" {
		t.Error(got)
	}
	if got := someOf(models[:8]); got != "m0, m1, m2, m3, m4, m5, m6, m7" {
		t.Error(got)
	}
}
