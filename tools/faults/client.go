package main

import "syscall"

// clientCases are faults on servebench's side.
func clientCases() []*Case {
	const group = "On servebench's side"
	return []*Case{
		{Group: group, Fault: "the disk is full for the stream", How: "a device that is always full",
			Args: []string{"-o", "/dev/full"},
			Want: Want{Exit: 1}, Lost: "the stream; the block and the result file are whole", Make: onlySim},
		{Group: group, Fault: "servebench is killed",
			How: "`kill -KILL` after 8 answers, with 3 in flight; `servebench report run.jsonl`", Args: steady,
			Want: Want{Unsent: requests - 8, Says: "was cut: it has no end line, so its duration ends with the last request"},
			Make: func(s *Stage) (string, error) {
				s.Report = true
				s.Meanwhile = func() error {
					if err := s.middle(); err != nil {
						return err
					}
					return s.run.Process.Signal(syscall.SIGKILL)
				}
				sim, err := s.sim(slowly...)
				if err != nil {
					return "", err
				}
				return sim.URL, nil
			}},
	}
}
