package preflight

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// An engine is a program that runs vLLM.
type engine struct {
	program string // as the commands have it
	path    string // empty if it is not there
	version string // as it says; empty if it does not answer
	silence error  // why it does not
}

// readEngines asks each vLLM once for its version.
func (l *look) readEngines() {
	for _, s := range l.servers {
		if s.vllm == "" {
			continue
		}
		path, err := l.machine.Find(s.Server, s.vllm)
		if err != nil {
			path = "" // it is missing as a program
		}
		known := func(e engine) bool { return e.program == s.vllm && e.path == path }
		if !slices.ContainsFunc(l.engines, known) {
			l.engines = append(l.engines, l.newEngine(s.vllm, path))
		}
	}
}

func (l *look) newEngine(program, path string) engine {
	e := engine{program: program, path: path}
	if path == "" {
		return e
	}
	out, err := l.machine.Run(l.ctx, Command{Words: []string{path, "--version"}})
	if words := strings.Fields(out); len(words) > 0 {
		e.version = words[len(words)-1] // after what its imports print
	}
	e.silence = cmp.Or(err, errors.New("it prints nothing"))
	return e
}

// engines checks that each vLLM is of a release that will do. One that is not there is missing as a
// program.
func engines(l *look) (all []Finding) {
	for _, e := range l.engines {
		switch {
		case e.version != "":
			all = append(all, fine("engine", "%s is vLLM %s", e.program, e.version))
		case e.path != "":
			all = append(all, note("engine", "%s --version does not answer (%v)", e.program, e.silence))
		}
		for _, n := range l.needs() {
			if e.version != "" {
				all = append(all, e.outside(n)...)
			}
		}
	}
	return all
}

// outside says so if the version is outside the releases of a need, or may be.
func (e engine) outside(n need) []Finding {
	wanted := releases(n.VLLM)
	switch {
	case wanted == (releases{}):
		return nil
	case !numbered(e.version):
		return []Finding{note("engine", "vLLM says its version is %q, so whether it is %s is not known%s", e.version, wanted,
			n.who)}
	case !wanted.have(e.version):
		return []Finding{missing("engine", wanted.install(), "vLLM is %s, %s is needed%s", e.version, wanted, n.who)}
	}
	return nil
}
