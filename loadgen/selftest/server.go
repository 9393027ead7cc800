package selftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// greeting goes before the URL in the first line that a server prints.
const greeting = "listening on "

// Serve is what the server's process does: it runs m on a free port of the
// loopback interface, says on stdout where, and ends when stdin does, so that it
// never outlives who started it. Then it prints what m did. After an error it
// may go on reading stdin.
func Serve(m *metronome.Metronome, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- m.Serve(listener) }()
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, stdin)
		close(ended)
	}()
	fmt.Fprintf(stdout, "%shttp://%s\n", greeting, listener.Addr())
	select {
	case err := <-served:
		m.Close()
		return err
	case <-ended:
	}
	m.Close()
	<-served
	return json.NewEncoder(stdout).Encode(m.Count())
}

// A process is a Metronome in a process of its own.
type process struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

// endWithin is how long the server may take to end.
const endWithin = 10 * time.Second

// start starts a server with the settings of m, and waits until it listens.
func start(server Command, m *metronome.Metronome) (*process, error) {
	cmd, err := server(m)
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, out: bufio.NewReader(stdout)}
	line, err := p.out.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), greeting)
	if err == nil && !ok {
		err = errors.New("that is not where it listens")
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("it said %q: %w", line, err)
	}
	p.url = url
	return p, nil
}

// stop ends the server and gives what it did and the CPU time that it used.
func (p *process) stop() (count metronome.MetronomeCount, cpu time.Duration, err error) {
	impatient := time.AfterFunc(endWithin, func() { p.cmd.Process.Kill() })
	defer impatient.Stop()
	p.stdin.Close()
	err = json.NewDecoder(p.out).Decode(&count)
	if ended := p.cmd.Wait(); ended != nil {
		err = ended
	}
	if err != nil {
		return count, 0, fmt.Errorf("the server's end: %w", err)
	}
	return count, p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
}
