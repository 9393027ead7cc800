//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// A piped is a run whose record stream goes into a pipe that nobody reads before the
// test does. The pipe is full from the start.
type piped struct {
	*exec.Cmd
	stream *os.File      // the end that is read
	blocks chan struct{} // a result block was printed
	talk   func() string // all of stderr, once that is closed
}

// full is a pipe that takes nothing more. It has empty lines, which no reader minds.
func full(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fd := int(write.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = syscall.Write(fd, []byte("\n"))
	}
	if err != syscall.EAGAIN {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	return read, write
}

// pipe starts a run of 200 requests, which make 200 KB, on a server or several, as flags.
func pipe(t *testing.T, server, args string, into *os.File) *piped {
	t.Helper()
	if testing.Short() {
		t.Skip("runs that wait for their reader: in go test without -short")
	}
	p := &piped{blocks: make(chan struct{}, 10)}
	p.Cmd = exec.CommandContext(t.Context(), program(t, t.TempDir()), strings.Fields(
		"run --num-prompts 200 --random-input-len 8 --random-output-len 60 --disable-tqdm --extended -o - "+server+" "+args)...)
	p.Stdout = into
	if into == nil {
		read, write := full(t)
		t.Cleanup(func() { read.Close() })
		defer write.Close()
		p.stream, p.Stdout = read, write
	}
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(p.blocks)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			if strings.Contains(lines.Text(), "Serving Benchmark Result") {
				p.blocks <- struct{}{}
			}
		}
	}()
	p.talk = sync.OnceValue(func() string { <-done; return said.String() })
	return p
}

// printed waits for result blocks.
func (p *piped) printed(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, ok := <-p.blocks; !ok {
			t.Fatalf("it ended without a block: %v\n%s", p.Wait(), p.talk())
		}
	}
}

// fast is a server that answers within 30 ms, as a flag.
func fast(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	url, wait := startSim(t, ctx, "--step-base", "0.5ms")
	t.Cleanup(func() {
		cancel()
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
	return "--base-url " + url
}

// reported is what servebench report makes of a stream.
func reported(t *testing.T, stream io.Reader) (out, talk string) {
	t.Helper()
	var o, e strings.Builder
	cmd := newReportCommand()
	cmd.SetArgs([]string{"--extended"})
	cmd.SetIn(stream)
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	if err := cmd.Execute(); err != nil {
		t.Errorf("report: %v\n%s", err, &e)
	}
	return o.String(), e.String()
}

// Nobody reads the stream before the run has ended and printed its block. All records
// are there nevertheless, and the run says how long they waited.
func TestSlowReaderDelaysNoRequest(t *testing.T) {
	t.Parallel()
	one := fast(t)
	two := strings.Replace(one, "--base-url ", "--target a=", 1) + strings.Replace(one, "--base-url ", " b=", 1)
	for _, test := range []struct {
		name, server, args string
		blocks             int
	}{
		{"open loop", one, "--request-rate 200", 1},
		{"closed loop", one, "--max-concurrency 20", 1},
		{"two targets", two, "--request-rate 200", 2},
		{"repeats", one, "--request-rate 400 --repeat 2", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := pipe(t, test.server, test.args, nil)
			p.printed(t, test.blocks)
			var text bytes.Buffer
			_, talk := reported(t, io.TeeReader(p.stream, &text))
			if err := p.Wait(); err != nil {
				t.Errorf("%v\n%s", err, p.talk())
			}
			sums, err := stream.Read(&text, metrics.Ask{})
			if err != nil || len(sums) != test.blocks {
				t.Errorf("%d runs are in the stream: %v", len(sums), err)
			}
			for _, s := range sums {
				if s.Completed != 200 || s.Ending.Incomplete != nil {
					t.Errorf("%d of 200 requests are in the stream: %q", s.Completed, s.Ending.Incomplete)
				}
			}
			const line = "Record writing was blocked"
			if !strings.Contains(p.talk(), line) || !strings.Contains(talk, line) || !strings.Contains(talk, "Note: records waited for ") {
				t.Errorf("nothing says that records waited:\n%s\nin the report:\n%s", p.talk(), talk)
			}
		})
	}
}

// Shards that write into one pipe end each by itself, and make one run.
func TestSlowReaderOfShards(t *testing.T) {
	t.Parallel()
	server := fast(t)
	read, write := full(t)
	defer read.Close()
	var shards []*piped
	for i := range 2 {
		shards = append(shards, pipe(t, server, fmt.Sprintf("--request-rate 300 --run-id x --shard %d/2", i), write))
	}
	write.Close()
	for _, p := range shards {
		p.printed(t, 1)
	}
	out, talk := reported(t, read)
	for _, p := range shards {
		if err := p.Wait(); err != nil {
			t.Errorf("%v\n%s", err, p.talk())
		}
	}
	if !strings.Contains(out, "Successful requests:                     200 ") || !strings.Contains(talk, "Record writing was blocked") || strings.Contains(talk, "damaged") {
		t.Errorf("%s%s", out, talk)
	}
}

// A reader that never comes back keeps nobody waiting for ever: Ctrl-C ends it, and
// what was lost is said.
func TestInterruptGivesUpAReaderThatIsGone(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe() // it takes what comes first
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	p := pipe(t, fast(t), "--request-rate inf --drain-timeout 0", write)
	write.Close()
	p.printed(t, 1)
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	talk := p.talk()
	if p.Wait(); p.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(talk, "servebench: writing the record stream: interrupted: the last ") {
		t.Errorf("%v\n%s", p.ProcessState, talk)
	}
	out, talk := reported(t, read)
	if !strings.Contains(talk, "was cut: it has no end line") {
		t.Errorf("what was read before says nothing of that:\n%s%s", out, talk)
	}
}

// A reader that goes away ends the stream, and the run goes on.
func TestReaderThatClosesThePipe(t *testing.T) {
	t.Parallel()
	p := pipe(t, fast(t), "--request-rate inf", nil)
	p.printed(t, 1)
	p.stream.Close()
	talk := p.talk()
	if p.Wait(); p.ProcessState.ExitCode() != exitNo || !strings.Contains(talk, "writing the record stream: write /dev/stdout: "+syscall.EPIPE.Error()) {
		t.Errorf("%v\n%s", p.ProcessState, talk)
	}
}
