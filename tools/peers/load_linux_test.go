package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/tools/peers/reading"
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
		"go-openai":      {loadJob{Client: reading.GoOpenAI, Streams: 3, Time: 80 * time.Millisecond}, 3 * 5, 3},
		"plain":          {loadJob{Client: reading.Plain, Streams: 3, Time: 80 * time.Millisecond}, 3 * 5, 3},
		"lag":            {loadJob{Client: ours, Streams: 1, Requests: 50, Rate: 1000}, 50, 50},
		"no real server": {loadJob{Client: reading.AtOnce, Streams: 1, Requests: 50, Rate: 1000}, 50, 50},
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
	b, err := newBench(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cpu := b.serverCPU
	out, err := pinned(context.Background(), cpu, []string{"grep", "Cpus_allowed_list", "/proc/self/status"}).Output()
	if want := "Cpus_allowed_list:\t" + strconv.Itoa(cpu) + "\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}
