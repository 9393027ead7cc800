package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/loadgen/sim"
)

// newSelftestServerCommand makes the verb that selftest runs in a process of its
// own. It ends when its stdin does, so that it never outlives who started it, and
// then prints what it did.
func newSelftestServerCommand() *cobra.Command {
	m := new(sim.Metronome)
	cmd := &cobra.Command{
		Use:    "selftest-server",
		Short:  "Serve streams that tell when they were written, until standard input ends",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Ctrl-C reaches all processes of a terminal; ours to end is selftest's to say.
			signal.Ignore(os.Interrupt)
			if err := serveMetronome(m, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return exitError{err, exitNo}
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&m.TTFT, "ttft", 0, "from a request's arrival to its first event, at least")
	cmd.Flags().DurationVar(&m.ITL, "itl", 20*time.Millisecond, "between the events of a stream")
	cmd.Flags().BoolVar(&m.Aligned, "aligned", false, "write to all streams at the same instants")
	return cmd
}

func serveMetronome(m *sim.Metronome, stdin io.Reader, stdout io.Writer) error {
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
	fmt.Fprintf(stdout, "listening on http://%s\n", listener.Addr())
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

// A metronomeProcess is a Metronome in a process of its own.
type metronomeProcess struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

// endWithin is how long the server may take to end.
const endWithin = 10 * time.Second

// startMetronome runs the hidden verb of this program with the settings of m.
func startMetronome(m *sim.Metronome) (*metronomeProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "selftest-server", "--ttft", m.TTFT.String(), "--itl", m.ITL.String(), fmt.Sprintf("--aligned=%t", m.Aligned))
	cmd.Args[0] = "servebench" // whatever the file is called
	cmd.Stderr = os.Stderr
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
	p := &metronomeProcess{cmd: cmd, stdin: stdin, out: bufio.NewReader(stdout)}
	line, err := p.out.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		p.stop()
		return nil, fmt.Errorf("it said %q: %w", line, err)
	}
	p.url = url
	return p, nil
}

// stop ends the server and gives what it did and the CPU time that it used.
func (p *metronomeProcess) stop() (count sim.MetronomeCount, cpu time.Duration, err error) {
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
