package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is how long a case may take.
const patience = 60 * time.Second

// build builds servebench, in dir.
func build(ctx context.Context, dir string) (bin string, err error) {
	bin = filepath.Join(dir, "servebench")
	make := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/servebench")
	make.Dir = filepath.Join("..", "..")
	if out, err := make.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building servebench: %w\n%s", err, out)
	}
	return bin, nil
}

// A Stage is where one case is tried: a folder, the processes that it started, and the run. end
// removes all of it.
type Stage struct {
	ctx context.Context
	bin string // of servebench
	dir string

	// What a case may set: the run's environment, and what happens during the run.
	Env       []string
	Network   *network     // where the run happens; nil for the machine's network
	Meanwhile func() error // runs at the same time as the run
	Report    bool         // run servebench report on the stream after the run

	run     *exec.Cmd
	endings []func()
}

// open makes a stage. End must be called.
func open(ctx context.Context, bin string) (*Stage, error) {
	dir, err := os.MkdirTemp(filepath.Dir(bin), "case-*")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	return &Stage{ctx: ctx, bin: bin, dir: dir, endings: []func(){func() { os.RemoveAll(dir) }, cancel}}, nil
}

// end undoes everything that the case did, in reverse order.
func (s *Stage) end() {
	for i := len(s.endings) - 1; i >= 0; i-- {
		s.endings[i]()
	}
}

// later calls f at the end.
func (s *Stage) later(f func()) { s.endings = append(s.endings, f) }

// path is the path of a file in the stage's folder.
func (s *Stage) path(name string) string { return filepath.Join(s.dir, name) }

// stream is the run's record stream.
func (s *Stage) stream() string { return s.path("run.jsonl") }

// write makes a file in the stage's folder.
func (s *Stage) write(name, text string) (path string, err error) {
	path = s.path(name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// start starts a process. end kills it, with the processes that it started.
func (s *Stage) start(cmd *exec.Cmd, in *network) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	if err := in.do(cmd.Start); err != nil {
		return fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	s.later(func() {
		_ = kill()     // it may have ended
		_ = cmd.Wait() // killed
	})
	return nil
}

// A Sim is a running `servebench sim`.
type Sim struct {
	URL string
	cmd *exec.Cmd
}

// Addr is its host and port.
func (p *Sim) Addr() string { return strings.TrimPrefix(p.URL, "http://") }

// sim starts a simulated server, with steps of 10 ms, on a port that the system chooses.
func (s *Stage) sim(args ...string) (*Sim, error) {
	return s.simAt(nil, append([]string{"--port", "0"}, args...)...)
}

// simAt starts one in a network.
func (s *Stage) simAt(in *network, args ...string) (*Sim, error) {
	cmd := exec.CommandContext(s.ctx, s.bin, append([]string{"sim", "--step-base", "10ms"}, args...)...)
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.start(cmd, in); err != nil {
		return nil, err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	url, listens := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !listens {
		return nil, fmt.Errorf("servebench sim does not listen: %s", trouble.String())
	}
	return &Sim{url, cmd}, nil
}

// listen opens a port that the system chooses, for a program that takes over the listener.
func (s *Stage) listen() (addr string, file *os.File, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	defer l.Close()
	file, err = l.(*net.TCPListener).File()
	return l.Addr().String(), file, err
}

// try runs servebench against url and collects the outcome.
func (s *Stage) try(url string, args []string) (*Outcome, error) {
	command := append([]string{"run"}, usual(url)...)
	// A case may override where these go.
	command = append(command, "-o", s.stream(), "--save-result", "--result-filename", s.path("result.json"),
		"--disable-tqdm")
	s.run = exec.CommandContext(s.ctx, s.bin, append(command, args...)...)
	o := &Outcome{dir: s.dir}
	if err := s.perform(s.run, o); err != nil {
		return nil, err
	}
	if s.Report {
		if err := s.perform(exec.CommandContext(s.ctx, s.bin, "report", s.stream()), o); err != nil {
			return nil, err
		}
	}
	return o, o.read(s)
}

// perform runs cmd to its end, together with Meanwhile.
func (s *Stage) perform(cmd *exec.Cmd, o *Outcome) error {
	var out, talk strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &talk
	cmd.Env = append(append(os.Environ(), "OPENAI_API_KEY="), s.Env...)
	if err := s.Network.do(cmd.Start); err != nil {
		return err
	}
	meanwhile := make(chan error, 1)
	go func() {
		f := s.Meanwhile
		if s.Meanwhile = nil; f == nil {
			f = func() error { return nil }
		}
		meanwhile <- f()
	}()
	err := cmd.Wait()
	if s.ctx.Err() != nil {
		return fmt.Errorf("not over within %v\n%s", patience, talk.String())
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return err
	}
	o.Exit, o.Stdout, o.Stderr = cmd.ProcessState.ExitCode(), out.String(), talk.String()
	return <-meanwhile
}

// await waits until n requests are in the stream.
func (s *Stage) await(n int) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(s.stream())
		if err == nil && bytes.Count(text, []byte(`"k":"req"`)) >= n {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return fmt.Errorf("waiting for %d requests: %w", n, s.ctx.Err())
		}
	}
}

// pause waits, unless the stage ends earlier.
func (s *Stage) pause(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
