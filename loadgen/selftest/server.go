package selftest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// A Command returns the command that runs a server with the settings of s, not yet started. The
// process must pass its standard input and output to Serve, together with a Server of these
// settings. Load uses both.
type Command func(s *metronome.Server) *exec.Cmd

// Program is the Command of the servebench program in that file.
func Program(file string) Command {
	return func(s *metronome.Server) *exec.Cmd {
		cmd := exec.Command(file, "selftest-server", "--ttft", s.TTFT.String(), "--itl", s.ITL.String(),
			fmt.Sprintf("--aligned=%t", s.Aligned))
		cmd.Args[0] = "servebench" // whatever the name of the file
		cmd.Stderr = os.Stderr
		return cmd
	}
}

// greeting precedes the URL in the first line that a server prints.
const greeting = "listening on "

// Serve is the main function of the server's process. It runs s on a free port of the loopback
// interface, prints the address, and ends when stdin does, so it never outlives its parent. Then it
// prints what s has done. After an error it may go on reading stdin.
func Serve(s *metronome.Server, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		defer end()
		io.Copy(io.Discard, stdin)
	}()
	fmt.Fprintf(stdout, "%shttp://%s\n", greeting, listener.Addr())
	if err := s.Serve(ctx, listener); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(s.Count())
}

// A process is a metronome in a separate process.
type process struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

// endWithin is how long the server may take to end.
const endWithin = 10 * time.Second

// start starts a server and waits until it listens.
func start(cmd *exec.Cmd) (*process, error) {
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

// stop ends the server and returns its counts and the CPU time that it used.
func (p *process) stop() (count metronome.Count, cpu time.Duration, err error) {
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
