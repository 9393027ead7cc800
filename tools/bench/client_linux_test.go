package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/metrics"
)

// The test program is the server, too, when it is called as servebench is.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "selftest-server" {
		os.Exit(m.Run())
	}
	if err := selftest.Serve(&metronome.Server{ITL: time.Millisecond}, os.Stdin, os.Stdout); err != nil {
		panic(err)
	}
}

func TestEveryClientReadsEveryEvent(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &metronome.Server{ITL: time.Millisecond}
	go server.Serve(t.Context(), listener)
	for client, events := range map[string]int{ours: 7, goOpenAI: 7, plain: 7, atOnce: 1} {
		began, seen := time.Now().UnixNano(), 0
		send := senders[client]("http://" + listener.Addr().String())
		for chunk, err := range send(t.Context(), time.Now(), &engine.Request{Body: requestBody(7)}, new(metrics.Record)) {
			if err != nil {
				t.Fatalf("%s: %v", client, err)
			}
			seen++
			truth, err := metronome.ParseTruth(chunk.Text)
			if at := chunk.At.UnixNano(); err != nil || truth.Written < began || at < truth.Written {
				t.Errorf("%s: event %d written at %d and seen at %d, asked for at %d: %v", client, seen, truth.Written, at, began, err)
			}
		}
		if seen != events {
			t.Errorf("%s: %d events, want %d", client, seen, events)
		}
	}
	for _, client := range []string{ours, goOpenAI, plain} {
		for _, err := range senders[client]("http://127.0.0.1:1")(t.Context(), time.Now(), &engine.Request{Body: requestBody(7)}, new(metrics.Record)) {
			if err == nil {
				t.Errorf("%s: an event without a server", client)
			}
		}
	}
}

// readBursts has r read bursts of three streams that the feeder fills with four events.
func readBursts(t *testing.T, client string, read func(r reader) error) {
	t.Helper()
	feeder, err := newFeeder(4)
	if err != nil {
		t.Fatal(err)
	}
	defer feeder.listener.Close()
	r, err := newReader(client, feeder.listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.connect(feeder.listener.Addr()); err != nil {
			t.Fatal(err)
		}
		if err := feeder.accept(); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		r.expect(3 * 4)
		if err := feeder.write(); err != nil {
			t.Fatal(err)
		}
		if err := read(r); err != nil {
			t.Fatalf("%s: %v", client, err)
		}
	}
}

func TestTheFloorReadsWhatTheFeederWrites(t *testing.T) {
	for _, client := range []string{bare, bareStamped} {
		readBursts(t, client, func(r reader) error {
			err := r.consume()
			if left := r.(*floor).expected; left != 0 {
				t.Errorf("%s: %d events too few or too many", client, left)
			}
			return err
		})
	}
}

func TestTheClientsCountBurstsOfTheFeeder(t *testing.T) {
	for _, client := range []string{ours, goOpenAI, plain} {
		readBursts(t, client, func(r reader) error {
			// Where there are several CPUs it may well be reading early.
			if err := r.consume(); err != nil && err != errEarly {
				return err
			}
			if seen := r.(*crowd).seen.Load() % 12; seen != 0 {
				t.Errorf("%s: %d events of a burst seen", client, seen)
			}
			return nil
		})
	}
}

func TestLoadsAreMeasured(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		job    loadJob
		events int64
		lags   int
	}{
		"starts":         {loadJob{Client: ours, Streams: 4, Requests: 20}, 20, 20},
		"streams":        {loadJob{Client: ours, Streams: 3, Time: 80 * time.Millisecond}, 3 * 5, 3},
		"go-openai":      {loadJob{Client: goOpenAI, Streams: 3, Time: 80 * time.Millisecond}, 3 * 5, 3},
		"plain":          {loadJob{Client: plain, Streams: 3, Time: 80 * time.Millisecond}, 3 * 5, 3},
		"lag":            {loadJob{Client: ours, Streams: 1, Requests: 50, Rate: 1000}, 50, 50},
		"no real server": {loadJob{Client: atOnce, Streams: 1, Requests: 50, Rate: 1000}, 50, 50},
	} {
		row.job.Program, row.job.ServerCPU = self, anyCPU
		result, err := row.job.run()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := result.(*selftest.Row); got.Events != row.events || got.Lag.Samples != row.lags || got.Failed != 0 {
			t.Errorf("%s: %d events, %d lags, %d failed; want %d, %d, none", name, got.Events, got.Lag.Samples, got.Failed, row.events, row.lags)
		}
	}
	if _, err := (&loadJob{Client: ours, Streams: 1, Requests: 1, ServerCPU: anyCPU, Program: t.TempDir() + "/none"}).run(); err == nil {
		t.Error("no error without a server")
	}
}

func TestACommandRunsOnTheCPUThatItIsGiven(t *testing.T) {
	if _, err := exec.LookPath("taskset"); err != nil {
		t.Skip("there is no taskset")
	}
	cpus, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cpu := cpus[len(cpus)-1]
	out, err := pinned(context.Background(), cpu, "grep", "Cpus_allowed_list", "/proc/self/status").Output()
	if want := "Cpus_allowed_list:\t" + strconv.Itoa(cpu) + "\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}
