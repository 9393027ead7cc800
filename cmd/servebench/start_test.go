package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRunBeginsAtTheInstantGiven(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	start := time.Now().Add(300 * time.Millisecond).UTC().Round(0)
	o := mustJoin(t, "", "--num-prompts 2 --random-input-len 4 --random-output-len 2 --start-at", start.Format(time.RFC3339Nano), "--base-url", url)
	e := newExperiment(o, io.Discard, io.Discard)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := e.done[0]
	late := slices.ContainsFunc(s.Summary.Ending.Warnings, func(w string) bool { return strings.Contains(w, "after --start-at") })
	if epoch := s.Summary.Header.Epoch; !s.Summary.Header.StartAt.Equal(start) || epoch.Before(start) || epoch.Equal(start) == late {
		t.Errorf("it began at %v, where %v was asked for; warnings %q", epoch, start, s.Summary.Ending.Warnings)
	}
}

// A canceller cancels once the text was written to it.
type canceller struct {
	strings.Builder
	text   string
	cancel func()
}

func (c *canceller) Write(b []byte) (int, error) {
	c.Builder.Write(b)
	if strings.Contains(string(b), c.text) {
		c.cancel()
	}
	return len(b), nil
}

func TestInterruptEndsTheWaitForTheStart(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	ctx, cancel := context.WithCancel(t.Context())
	o := mustJoin(t, "", "--num-prompts 2 --random-input-len 4 --random-output-len 2 --start-at 99999999999 --base-url", url)
	talk := &canceller{text: "ready: the load begins at", cancel: cancel}
	e := newExperiment(o, io.Discard, talk)
	err := e.run(ctx)
	if strings.Contains(talk.String(), "in flight") {
		t.Errorf("it said %s", talk)
	}
	if exit, ok := errors.AsType[exitError](err); !ok || exit.code != exitInterrupted || len(e.done) > 0 {
		t.Errorf("%d done, %v", len(e.done), err)
	}
}
