package preflight

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
)

//go:embed probe.py
var probe string

// An engine is a program that runs vLLM, and what the Python has that runs it.
type engine struct {
	program string // as the commands have it
	path    string // empty if it is not there
	python  string // empty if it is not known

	wrong    string            // why nothing is known of its packages
	Versions map[string]string `json:"versions"` // of packages
	Hook     bool              `json:"hook"`     // kvcached's, which patches vLLM as Python starts
	Ignored  []string          `json:"ignored"`  // variables that vLLM does not know
}

// readEngines asks each vLLM once.
func (l *look) readEngines() {
	for _, s := range l.servers {
		if s.vllm == "" || l.engineOf(s) != nil {
			continue
		}
		e := &engine{program: s.vllm}
		if path, err := l.Find(s.Server, s.vllm); err != nil {
			e.wrong = "there is no " + s.vllm
		} else if e.path, e.python = path, l.interpreter(path); e.python == "" {
			e.askItself(l)
		} else {
			e.ask(l)
		}
		l.engines = append(l.engines, e)
	}
}

// engineOf is the engine of a server; nil if it has none.
func (l *look) engineOf(s *server) *engine {
	path, _ := l.Find(s.Server, s.vllm)
	i := slices.IndexFunc(l.engines, func(e *engine) bool { return e.program == s.vllm && e.path == path })
	if s.vllm == "" || i < 0 {
		return nil
	}
	return l.engines[i]
}

// interpreter is the Python in the first line of a script; empty for anything else.
func (l *look) interpreter(path string) string {
	text, err := l.Read(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text[:min(len(text), 1000)]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 || !strings.HasPrefix(filepath.Base(words[0]), "python") {
		return ""
	}
	return words[0]
}

// ask asks the engine's Python.
func (e *engine) ask(l *look) {
	asked := map[string][]string{"packages": {"vllm", "kvcached"}, "variables": {}}
	for _, n := range l.needs() {
		for _, text := range n.Engine {
			r, _ := require(text)
			asked["packages"] = append(asked["packages"], r.name)
		}
	}
	for _, s := range l.servers {
		for name := range s.Env {
			if s.vllm != "" && strings.HasPrefix(name, "VLLM_") {
				asked["variables"] = append(asked["variables"], name)
			}
		}
	}
	l.askPython(e, asked)
}

// askPython runs the probe.
func (l *look) askPython(e *engine, asked map[string][]string) {
	text, err := json.Marshal(asked)
	if err == nil {
		var out string
		if out, err = l.Run(l.ctx, Command{Words: []string{e.python, "-c", probe, string(text)}}); err == nil {
			err = json.Unmarshal([]byte(out), e)
		}
	}
	if err != nil {
		e.wrong = e.python + ": " + err.Error()
	}
}

// askItself asks a program that is no script of Python for its version.
func (e *engine) askItself(l *look) {
	out, err := l.Run(l.ctx, Command{Words: []string{e.path, "--version"}})
	if words := strings.Fields(out); err == nil && len(words) > 0 {
		e.Versions = map[string]string{"vllm": words[len(words)-1]}
		return
	}
	e.wrong = e.program + " --version does not answer"
	if err != nil {
		e.wrong += ": " + err.Error()
	}
}

// enginePackages checks what the Python that runs vLLM has to have.
func enginePackages(l *look) (all []Finding) {
	for _, e := range l.engines {
		if v := e.Versions["vllm"]; v != "" {
			all = append(all, fine("engine", "%s is vLLM %s", e.program, v))
		}
	}
	for _, n := range l.needs() {
		for _, text := range n.Engine {
			for _, e := range l.engines {
				all = append(all, e.require(text, n.who)...)
			}
		}
	}
	return all
}

// require checks one package of the engine. A vLLM that is not there is missing as a program already.
func (e *engine) require(text, who string) []Finding {
	r, ok := require(text)
	version, known := e.Versions[r.name]
	switch {
	case !ok:
		return []Finding{missing("engine", "write it as vllm>=0.29,<0.31", "needs: %s is not understood", text)}
	case known && r.bounds != nil && !numbered(version):
		return []Finding{note("engine", "%s says its version is %q, so whether it is %s is not known%s", r.name, version, r.text, who)}
	case e.path == "" && r.name == "vllm", known && r.holds(version) && r.name == "vllm":
		return nil
	case known && r.holds(version):
		return []Finding{fine("engine", "%s %s%s", r.name, version, who)}
	case known:
		return []Finding{missing("engine", r.install(), "%s is %s, %s is needed%s", r.name, version, r.text, who)}
	case e.python == "" && e.path != "":
		return []Finding{note("engine", "%s is no script of Python, so whether it has %s is not known%s", e.path, r.text, who)}
	case e.wrong != "":
		return []Finding{missing("engine", r.install(), "%s is not seen, as %s%s", r.name, e.wrong, who)}
	}
	return []Finding{missing("engine", r.install(), "%s is not there for %s%s", r.name, e.python, who)}
}

// pythonPackages checks what the Python of scripts has to have.
func pythonPackages(l *look) (all []Finding) {
	for _, n := range l.needs() {
		if len(n.Python) == 0 {
			continue
		}
		e := &engine{program: l.python(), python: l.python()}
		if e.path, _ = l.Find(&sweep.Server{}, e.program); e.path == "" {
			e.wrong = "there is no " + e.program
		} else {
			names := []string{}
			for _, text := range n.Python {
				r, _ := require(text)
				names = append(names, r.name)
			}
			l.askPython(e, map[string][]string{"packages": names, "variables": {}})
		}
		for _, text := range n.Python {
			for _, f := range e.require(text, n.who) {
				f.Topic = "python"
				if f.State == Missing {
					f.Remedy += ", or name another Python by PYTHON"
				}
				all = append(all, f)
			}
		}
	}
	return all
}

// ignored names variables of vLLM that this vLLM would ignore.
func ignored(l *look) (all []Finding) {
	for _, e := range l.engines {
		for _, name := range e.Ignored {
			arms := l.armsOf(func(s *server) bool { _, set := s.Env[name]; return set && l.engineOf(s) == e })
			if arms != "" {
				all = append(all, missing("engine", "take a vLLM that has it, or leave the arm out",
					"vLLM %s does not know %s and would ignore it (%s)", e.Versions["vllm"], name, arms))
			}
		}
	}
	return all
}

// armsOf names the arms with such a server.
func (l *look) armsOf(has func(*server) bool) string {
	var names []string
	for _, s := range l.servers {
		if has(s) {
			names = append(names, s.arm)
		}
	}
	if names = unique(names); len(names) < 2 {
		return strings.TrimSuffix("arm "+strings.Join(names, ""), "arm ")
	}
	return "arms " + strings.Join(names, ", ")
}
