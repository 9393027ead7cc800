package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// million measures the time and the memory of reading a stream of a million requests, with all
// CPUs. compare reads a stream of a tenth of them as well.
func (p *plan) million() ([]line, error) {
	if p.quick {
		return []line{{"report, report --html, compare", "not in quick mode", "", void}}, nil
	}
	few, many := filepath.Join(p.dir, "few.jsonl"), filepath.Join(p.dir, "many.jsonl")
	if err := errors.Join(writeRun(few, 100_000), writeRun(many, 1_000_000)); err != nil {
		return nil, err
	}
	var lines []line
	for _, way := range []struct {
		name string
		args []string
	}{
		{"report", []string{"report", many}},
		{"report --html", []string{"report", "--html", filepath.Join(p.dir, "page.html"), many}},
		{"compare", []string{"compare", few, "--", many}},
	} {
		stop, began := observe(), time.Now()
		used, err := p.with("", anyCPU).watch(context.Background(), append([]string{p.program}, way.args...))
		took := time.Since(began).Seconds()
		const noVerdict = 3 // of single runs
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == noVerdict) {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		figure := fmt.Sprintf("%.1f s (%.1f s of CPU), %.0f MB", took, used.cpu.Seconds(), used.memory)
		lines = append(lines, line{way.name, figure, "≤ 5 s, ≤ 300 MB", verdictOf(took <= 5 && used.memory <= 300)}.despite(
			stop().Void))
	}
	return lines, nil
}

// writeRun writes a stream of requests of one token, 5000 a second.
func writeRun(name string, requests int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := &metrics.Header{Run: filepath.Base(name), Epoch: time.Unix(0, 0), Definitions: record.Latest,
		Config: metrics.Config{Model: "m", Backend: "openai", NumPrompts: requests, RequestRate: 5000, Burstiness: 1,
			Percentiles: []float64{99}}}
	buffered := bufio.NewWriter(f)
	w, c := stream.NewWriter(buffered), aspect.Collector(h)
	if err := w.Begin(h); err != nil {
		return err
	}
	random, end := rand.New(rand.NewPCG(1, 2)), time.Duration(0)
	for i := range requests {
		due := time.Duration(i) * time.Second / 5000
		r := &record.Record{Run: h.Run, ID: fmt.Sprintf("bench-%d", i), Index: i, Attempts: 1,
			Times:  record.Times{Due: due, Slot: due},
			Tokens: record.Tokens{In: 20, InAsked: 20, Out: 1, OutAsked: 1},
			Answer: record.Answer{Finish: "length"}, Result: record.Result{Status: 200}}
		r.Times.Sent = due + time.Duration(random.Int64N(int64(time.Millisecond)))
		r.Times.Wrote = r.Times.Sent + time.Duration(random.Int64N(int64(time.Millisecond)))
		r.Times.FirstByte = r.Times.Wrote + time.Duration(random.Int64N(int64(50*time.Millisecond)))
		r.Answer.Chunks.Append(r.Times.FirstByte)
		at := &r.Times
		at.FirstContent, at.Last, at.End = at.FirstByte, at.FirstByte, at.FirstByte+time.Millisecond
		c.Add(r)
		if err := w.Write(r); err != nil {
			return err
		}
		end = r.Times.End
	}
	return errors.Join(w.End(c.Summary(end.Seconds())), buffered.Flush())
}
