package preflight

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

//go:embed multiprocessors.py
var countSMs string

// multiprocessors checks the number of SMs.
func multiprocessors(l *look) (all []Finding) {
	if len(l.gpus) == 0 || !slices.ContainsFunc(l.needs(), func(n need) bool { return n.GPU.SMs > 0 }) {
		return nil
	}
	out, err := l.machine.Run(l.ctx, Command{Words: []string{l.python(), "-c", countSMs}})
	have, wrong := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || wrong != nil {
		return []Finding{note("GPU", "its SMs could not be counted: %v", err)}
	}
	for _, n := range l.needs() {
		if n.GPU.SMs == 0 {
			continue
		}
		if have < n.GPU.SMs {
			all = append(all, missing("GPU", "take another one, or leave the arm out", "it has %d SMs, %d are needed%s", have,
				n.GPU.SMs, n.who))
		} else {
			all = append(all, fine("GPU", "it has %d SMs%s", have, n.who))
		}
	}
	return all
}
