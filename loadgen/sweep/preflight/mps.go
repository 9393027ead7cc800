package preflight

import (
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
)

// pipeVariable names the folder by which clients of MPS find its daemon.
const pipeVariable = "CUDA_MPS_PIPE_DIRECTORY"

// underMPS reports whether the file puts the server under MPS.
func (s *server) underMPS() bool { return s.Env[pipeVariable] != "" }

// daemons checks that no MPS daemon has the pipes of the arms yet: it might have other shares, and it
// would outlive the servers.
func daemons(l *look) (all []Finding) {
	path, err := l.machine.Find(&sweep.Server{}, mpsControl)
	if err != nil {
		return nil // which is missing as a program, if it is needed
	}
	var pipes []string
	for _, s := range l.servers {
		pipes = append(pipes, s.Env[pipeVariable])
	}
	for _, pipe := range unique(pipes) {
		if _, err := l.machine.Stat(pipe); err != nil {
			all = append(all, fine("MPS", "there is no daemon at %s", pipe))
			continue
		}
		out, err := l.machine.Run(l.ctx, Command{Words: []string{path}, Env: []string{pipeVariable + "=" + pipe},
			Input: "get_server_list\n"})
		switch {
		case err == nil && !strings.Contains(strings.ToLower(out), "cannot find"):
			all = append(all, missing("MPS", "echo quit | "+pipeVariable+"="+pipe+" "+mpsControl, "a daemon runs at %s already",
				pipe))
		case err != nil && strings.HasPrefix(err.Error(), "no answer"):
			all = append(all, missing("MPS", "end "+mpsControl+", and remove the folder", "a daemon at %s does not answer (%v)",
				pipe, err))
		default:
			all = append(all, fine("MPS", "no daemon answers at %s", pipe))
		}
	}
	return all
}
