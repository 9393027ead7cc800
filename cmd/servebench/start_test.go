package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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
	s := e.done[0].sum
	late := slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "after --start-at") })
	if epoch := s.Header.Epoch; !s.Header.StartAt.Equal(start) || epoch.Before(start) || epoch.Equal(start) == late {
		t.Errorf("it began at %v, where %v was asked for; warnings %q", epoch, start, s.Warnings)
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

func TestConnectionsAreOpenedShortlyBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		o := mustJoin(t, "", "--clock-offset=10s --start-at", begin.Add(time.Hour).UTC().Format(time.RFC3339Nano))
		said := new(strings.Builder)
		tr := &trial{benches: []*bench{{options: o}}, talk: said}
		tr.awaitStart(t.Context())
		if waited := time.Since(begin); waited != time.Hour+10*time.Second-warmLead {
			t.Errorf("waited for %v", waited)
		}
		if want := "ready: the load begins at 2000-01-01T01:00:10Z, in 3610.0 s\n"; said.String() != want {
			t.Errorf("said %q, want %q", said, want)
		}
		time.Sleep(time.Hour)
		said.Reset()
		tr.awaitStart(t.Context())
		if waited := time.Since(begin); waited != 2*time.Hour+8*time.Second || said.Len() > 0 {
			t.Errorf("a past start was waited for, until %v: %s", waited, said)
		}
	})
}

func TestLateStartIsSaid(t *testing.T) {
	o := mustJoin(t, slurmStep, "--start-at 1763777700")
	for late, want := range map[time.Duration]string{
		0: "", 1234 * time.Millisecond: "shard 5 began 1.2 s after --start-at", 250 * time.Microsecond: "shard 5 began 0.2 ms after --start-at",
	} {
		if got := strings.Join(o.Shard.late(o.Shard.StartAt.Add(late)), "; "); got != want {
			t.Errorf("%v late: %q, want %q", late, got, want)
		}
	}
}
