package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
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
	summary, err := b.measure(ctx)
	if !errors.Is(err, bad) || summary == nil || !summary.Interrupted || summary.Completed+summary.Failed == 0 {
		t.Fatalf("%v, %+v", err, summary)
	}
}

func TestSilentServerIsNamed(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := "http://" + silent.Addr().String()
	for _, argv := range []string{"", "--model m --tokenizer stub-100"} {
		o, err := parseRun(append(strings.Fields(argv), "--base-url", url))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		b := &bench{options: o, out: &out, talk: &out, patience: 20 * time.Millisecond}
		err = b.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), url+"/v1/models: no answer within 20ms") {
			t.Errorf("%q: %v", argv, err)
		}
	}
}
