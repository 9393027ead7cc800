package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/tools/peers/truth"
)

// multiTurnScript is the name of vLLM's benchmarks/multi_turn.
const multiTurnScript = "vLLM, multi_turn"

// A course is one client's run of one trace.
type course struct {
	Trace   string
	Client  string
	CPU     float64 // seconds of the whole process
	Memory  float64 // the largest, in MB
	Load    float64 // the machine's average of a minute, before it
	Lag     float64 // P99 by the client's own figure, in ms; −1 if it has none
	Finding finding // what the server saw
	Asked   []asked
	Figures []figure // of each request, as vLLM's script has them
	Printed *summary
	Error   string
}

// A follower is a client that replays a trace.
type follower struct {
	name string
	runs []bool // whether it has real-time priority
	args func(t *trace, p place) []string
	read func(t *trace, dir string, c *course) error
}

// followers are the installed clients that read the form of a trace.
func (p programs) followers(t *trace) (all []follower) {
	all = append(all, follower{ours, []bool{true, true}, p.servebenchReplays, readReplay})
	if !t.vllm && exists(p.aiperf) {
		all = append(all, follower{aiperf, []bool{false, true}, p.aiperfReplays, readReplaySummary})
	}
	if t.vllm && exists(p.multiTurn) {
		all = append(all, follower{multiTurnScript, []bool{false}, p.scriptReplays, readScript})
	}
	return all
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}

// mostSessions is how many sessions of a trace without times there are at once.
const mostSessions = 4

// servebenchReplays is servebench's command line.
func (p programs) servebenchReplays(t *trace, at place) []string {
	args := []string{p.servebench, "run", "--base-url", at.url, "--model", truth.Model, "--tokenizer", at.tokenizer,
		"--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--disable-tqdm",
		"--dataset-name", t.form, "--dataset-path", t.file, "-o", filepath.Join(at.dir, streamFile)}
	if !t.timed {
		args = append(args, "--max-sessions", strconv.Itoa(mostSessions))
	}
	return args
}

// readReplay reads servebench's record stream.
func readReplay(_ *trace, dir string, c *course) error {
	f, err := os.Open(filepath.Join(dir, streamFile))
	if err != nil {
		return err
	}
	defer f.Close()
	var lags []float64
	for entry, err := range stream.NewReader(f).Entries() {
		if err != nil {
			return err
		}
		if r := entry.Record; r != nil {
			lags = append(lags, (r.Times.Sent-max(r.Times.Due, r.Times.Slot)).Seconds()*1000)
			c.Figures = append(c.Figures, figureOf(r))
		}
	}
	slices.Sort(lags)
	c.Lag = numpy.Percentile(lags, 99)
	return nil
}

// aiperfReplays is AIPerf's command line.
func (p programs) aiperfReplays(t *trace, at place) []string {
	args := []string{p.aiperf, "profile", "--model", truth.Model, "--url", at.url, "--endpoint-type", "chat",
		"--streaming",
		"--tokenizer", repositoryName, "--artifact-dir", at.dir, "--ui", "none", "--session-header", "X-Session-ID",
		"--random-seed", "1",
		"--use-server-token-count", "--input-file", cmp.Or(t.folder, t.file), "--custom-dataset-type", t.theirs}
	if t.timed {
		return append(args, "--fixed-schedule")
	}
	return append(args, "--concurrency", strconv.Itoa(mostSessions), "--conversation-num", strconv.Itoa(t.sessions()))
}

// readReplaySummary reads AIPerf's figure of lag: of a fixed schedule, or else from the moment at
// which a request may be sent.
func readReplaySummary(t *trace, dir string, c *course) error {
	var file struct {
		Replay *struct{ Avg float64 } `json:"replay_sched_lag_p99"`
		Credit *struct{ P99 float64 } `json:"credit_to_start_latency"`
	}
	err := readJSON(filepath.Join(dir, "profile_export_aiperf.json"), &file)
	switch {
	case file.Replay != nil:
		c.Lag = file.Replay.Avg
	case file.Credit != nil:
		c.Lag = file.Credit.P99
	}
	return err
}

// A comparison runs clients over traces.
type comparison struct {
	*bench
	programs
	encode encoder
	quick  bool
}

// newComparison opens the tokenizer of b.
func newComparison(b *bench, p programs, quick bool) (*comparison, error) {
	t, err := tokenizer.Open(b.tokenizer)
	if err != nil {
		return nil, err
	}
	return &comparison{b, p, func(text string) []int { return t.Encode(text, false) }, quick}, nil
}

// sessions compares how clients send sessions, and writes the page. It fails if servebench did not
// send what a trace says, or not in time, or not cheaply.
func sessions(b *bench, p programs, quick bool, only string) error {
	c, err := newComparison(b, p, quick)
	if err != nil {
		return err
	}
	// Where it is allowed, no other program has the core while servebench or the server wants it.
	if first := []string{"chrt", "--rr", "1"}; exec.Command(first[0], append(first[1:], "true")...).Run() == nil {
		b.realTime = first
	}
	courses, err := c.all(only)
	if err != nil {
		return err
	}
	page := sessionPage{thisMachine(), p.versions(), courses}
	failed := page.verdict()
	if quick || only != "" {
		return errors.Join(page.write(os.Stdout), failed)
	}
	f, err := os.Create(filepath.Join("docs", "measured", "sessions.md"))
	if err != nil {
		return err
	}
	return errors.Join(page.write(f), f.Close(), failed)
}

// traces makes all traces in the folder of b.
func (c *comparison) traces() (all []*trace, failed error) {
	for _, m := range makers {
		size := m.sessions
		if c.quick {
			size = max(size/8, mostSessions)
		}
		t, err := m.make(c.dir, size)
		failed = errors.Join(failed, err)
		all = append(all, &t)
	}
	return all, failed
}

// all runs each client over each trace whose name contains only.
func (c *comparison) all(only string) (courses []course, err error) {
	traces, err := c.traces()
	if err != nil {
		return nil, err
	}
	for _, t := range traces {
		if !strings.Contains(t.name, only) {
			continue
		}
		for _, f := range c.followers(t) {
			for _, realTime := range f.runs {
				x := c.follow(t, f, realTime)
				courses = append(courses, x)
				fmt.Fprintf(os.Stderr, "%-22s %-26s CPU %.2f s, lag %.2f ms, %+v %s\n", t.name, f.name, x.CPU, x.Lag, x.Finding,
					x.Error)
			}
		}
	}
	return courses, nil
}

// longestCourse is how long a client may take for a trace: AIPerf takes a minute to begin on a busy
// machine.
const longestCourse = 5 * time.Minute

// follow runs a client over a trace.
func (c *comparison) follow(t *trace, f follower, realTime bool) (x course) {
	x, err := c.course(t, f, realTime)
	if err != nil {
		x.Error = err.Error()
	}
	x.Trace, x.Client = t.name, f.name
	return x
}

func (c *comparison) course(t *trace, f follower, realTime bool) (x course, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), longestCourse)
	defer cancel()
	x = course{Lag: -1, Load: thisMachine().Load}
	dir, err := os.MkdirTemp(c.dir, "run")
	if err != nil {
		return x, err
	}
	defer os.RemoveAll(dir)
	keep := filepath.Join(dir, "kept")
	server, err := c.serve(ctx, truth.Script{First: 20 * time.Millisecond, ITL: time.Millisecond, Chunks: t.chunks,
		Keep: keep})
	if err != nil {
		return x, err
	}
	args := f.args(t, place{"http://127.0.0.1:" + strconv.Itoa(server.port), c.tokenizer, dir})
	if realTime {
		args = append(slices.Clone(c.realTime), args...)
	}
	used, err := c.watch(ctx, args)
	_, stopped := server.end()
	if err := errors.Join(err, stopped); err != nil {
		return x, err
	}
	x.CPU, x.Memory = used.cpu.Seconds(), used.memory
	all, err := truth.ReadKept(keep)
	if err != nil {
		return x, err
	}
	if t.steps != nil {
		x.Finding, err = t.compare(all, c.encode)
	}
	if t.vllm {
		x.Asked = askedIn(all)
	}
	return x, errors.Join(err, f.read(t, dir, &x))
}
