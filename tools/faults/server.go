package main

import (
	"net"
	"strings"
	"syscall"
	"time"
)

// steady sends three requests a second to a server that takes about 1.18 s for an answer. When the
// eighth is done, three are in flight with a part of their answer, and for 0.15 s nothing is sent
// or done: enough time to hit exactly these three, and leave nine to send.
var steady = []string{"--request-rate", "3", "--burstiness", "1000"}

// slowly makes answers take that long.
var slowly = []string{"--step-base", "57ms"}

// struck is the expected outcome.
func struck(inFlight, after string) Want {
	return Want{Failed: Failures{inFlight: 3, after: 9}, Suspect: []string{"failed"}}
}

// middle waits until eight answers are done, and a little longer.
func (s *Stage) middle() error {
	if err := s.await(8); err != nil {
		return err
	}
	return s.pause(30 * time.Millisecond)
}

// reachCases are servers that cannot be reached, or lack what was requested.
func reachCases() []*Case {
	const group = "No server, or not this one"
	begins := Want{Exit: 1, Unsent: requests}
	return []*Case{
		{Group: group, Fault: "no server listens at the port", How: "`--base-url http://127.0.0.1:PORT`", Want: begins,
			Make: func(s *Stage) (string, error) {
				addr, file, err := s.listen()
				if err != nil {
					return "", err
				}
				return "http://" + addr, file.Close()
			}},
		{Group: group, Fault: "the name does not resolve", How: "`--base-url http://server.invalid:8000`", Want: begins,
			Make: func(*Stage) (string, error) { return "http://server.invalid:8000", nil }},
		{Group: group, Fault: "the port takes connections and says nothing", How: "`nc -lk 8000`", Want: begins,
			Make: func(s *Stage) (string, error) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					return "", err
				}
				s.later(func() { l.Close() })
				return "http://" + l.Addr().String(), nil
			}},
		{Group: group, Fault: "the server does not have the model", How: "`sim`",
			Want: Want{Exit: 1, Failed: Failures{"status": requests}, Suspect: []string{"completed"},
				Says: "lists stub-32000, not other"}, Args: []string{"--model", "other"},
			Make: onlySim},
	}
}

// onlySim makes a server without a fault.
func onlySim(s *Stage) (string, error) {
	sim, err := s.sim()
	if err != nil {
		return "", err
	}
	return sim.URL, nil
}

// serverCases are servers that stop while they work.
func serverCases() []*Case {
	const group = "Servers that go, stop and fail"
	while := func(then func(*Stage, *Sim) error) func(*Stage) (string, error) {
		return func(s *Stage) (string, error) {
			sim, err := s.sim(slowly...)
			if err != nil {
				return "", err
			}
			s.Meanwhile = func() error { return then(s, sim) }
			return sim.URL, nil
		}
	}
	back := struck("truncated", "refused")
	back.Failed = Failures{"truncated": 3, "refused": 2}
	return []*Case{
		{Group: group, Fault: "killed in the middle of the run", How: "`kill -KILL` after 8 answers, with 3 in flight",
			Args: steady,
			Want: struck("truncated", "refused"), Make: while((*Stage).kill)},
		{Group: group, Fault: "killed, and restarted after 2 more requests have failed",
			How: "`kill -KILL` after 8 answers, `sim` after 13", Args: steady,
			Want: back, Alone: true, Make: while(func(s *Stage, sim *Sim) error { return s.restart(sim, 13) })},
		{Group: group, Fault: "killed and restarted, with retries", How: "`kill -KILL` after 8 answers, `sim` 0.3 s later",
			Args: append([]string{"--retries", "5"}, steady...),
			Want: Want{Failed: Failures{"truncated": 3}, Suspect: []string{"failed"}, Says: "sent again after failures"},
			Lost: "latencies of the retried requests include the wait", Make: while((*Stage).revive)},
		{Group: group, Fault: "stalled after the last request was sent", How: "`sim --fault stall=2 --fault-every 4`",
			Args: []string{"--drain-limit", "1"},
			Want: Want{Failed: Failures{"overdue": 5}, Suspect: []string{"failed"}}, Make: stalling},
		{Group: group, Fault: "stalled at the run's deadline", How: "`sim --fault stall=2 --fault-every 4`",
			Args: []string{"--deadline", "1"},
			Want: Want{Failed: Failures{"deadline": 5}, Exit: 1, Says: "5 requests cut short, by --deadline 1s"},
			Make: stalling},
		{Group: group, Fault: "failing, with a limit on failures", How: "`sim --fault status=503`",
			Args: strings.Fields("--request-rate 10 --burstiness 1000 --abort-on-failures 4"),
			Want: Want{Failed: Failures{"status": 5}, Suspect: []string{"completed"}, Unsent: requests - 5, Exit: 1,
				Says: "stopped by --abort-on-failures 4: 5 of 5 requests failed"},
			Make: func(s *Stage) (string, error) {
				sim, err := s.sim("--fault", "status=503")
				if err != nil {
					return "", err
				}
				return sim.URL, nil
			}},
		{Group: group, Fault: "stopped in the middle of the run", How: "`kill -STOP` after 8 answers, with 3 in flight",
			Args: append([]string{"--stall-timeout", "0.5", "--first-byte-timeout", "0.5"}, steady...),
			Want: struck("stall", "first-byte"), Make: while(func(s *Stage, sim *Sim) error {
				if err := s.middle(); err != nil {
					return err
				}
				return sim.cmd.Process.Signal(syscall.SIGSTOP)
			})},
	}
}

// kill kills the server in the middle of the run.
func (s *Stage) kill(sim *Sim) error {
	if err := s.middle(); err != nil {
		return err
	}
	return sim.cmd.Process.Kill()
}

// restart kills the server and starts another at its port once so many requests have ended.
func (s *Stage) restart(sim *Sim, ended int) error {
	if err := s.kill(sim); err != nil {
		return err
	}
	if err := s.await(ended); err != nil {
		return err
	}
	return s.again(sim)
}

// revive kills the server and soon starts another at its port.
func (s *Stage) revive(sim *Sim) error {
	if err := s.kill(sim); err != nil {
		return err
	}
	if err := s.pause(300 * time.Millisecond); err != nil {
		return err
	}
	return s.again(sim)
}

// again starts another server at the port of a server that has ended.
func (s *Stage) again(sim *Sim) error {
	_, port, err := net.SplitHostPort(sim.Addr())
	if err != nil {
		return err
	}
	_, err = s.sim(append([]string{"--port", port}, slowly...)...)
	return err
}

// stalling is a server that stalls every fourth answer.
func stalling(s *Stage) (string, error) {
	sim, err := s.sim("--fault", "stall=2", "--fault-every", "4")
	if err != nil {
		return "", err
	}
	return sim.URL, nil
}
