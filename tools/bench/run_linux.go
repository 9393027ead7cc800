package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// runs measures requests of one token in whole runs of the program on one CPU, with prompts of 100
// tokens, records in a file and stamps. A short run tells what a run costs besides its requests.
func (p *plan) runs() ([]row, error) {
	var rows []row
	for _, inFlight := range []int{64, 256, 1000} {
		stop := watch()
		fixed, err := p.run(inFlight, inFlight)
		if err != nil {
			return nil, err
		}
		all, err := p.run(inFlight, inFlight+p.requests)
		if err != nil {
			return nil, err
		}
		each := (all - fixed).Seconds() / float64(p.requests)
		figure := fmt.Sprintf("%.0f request starts per second of one core (%.1f µs of CPU each)", 1/each, 1e6*each)
		rows = append(rows, row{measure: fmt.Sprintf("%d in flight", inFlight), figure: figure}.despite(stop().Void))
	}
	return rows, nil
}

// run returns the CPU time of a run with so many requests.
func (p *plan) run(inFlight, requests int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	serve := selftest.Program(p.program)(&metronome.Server{})
	server := pinned(ctx, p.serverCPU, append([]string{serve.Path}, serve.Args[1:]...)...)
	in, err := server.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer server.Wait()
	defer in.Close() // which ends it
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the server's address: %w", err)
	}
	go io.Copy(io.Discard, out)
	url := strings.TrimSpace(line[strings.LastIndex(line, " ")+1:])
	return cpuOf(pinned(ctx, p.clientCPU, p.program, "run", "--base-url", url, "--model", "metronome", "--tokenizer", "stub-32000",
		"--random-input-len", "100", "--random-output-len", "1", "--max-concurrency", fmt.Sprint(inFlight),
		"--num-prompts", fmt.Sprint(requests), "-o", filepath.Join(p.dir, fmt.Sprintf("run-%d-%d.jsonl", inFlight, requests))))
}

// cpuOf runs a command and returns its CPU time.
func cpuOf(cmd *exec.Cmd) (time.Duration, error) {
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, errors.Join(err, errors.New(string(out)))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
