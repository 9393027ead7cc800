package preflight

import "cmp"

// python is the Python that scripts use.
func (l *look) python() string { return cmp.Or(l.machine.Getenv("PYTHON"), "python3") }

// findModule ends with an error if Python does not find the module of that name. It imports nothing.
const findModule = `import importlib.util, sys
sys.exit(None if importlib.util.find_spec(sys.argv[1]) else "no such module")`

// modules checks that the Python of scripts has the modules that needs name.
func modules(l *look) (all []Finding) {
	for _, n := range l.needs() {
		for _, name := range n.Python {
			find := Command{Words: []string{l.python(), "-c", findModule, name}}
			if _, err := l.machine.Run(l.ctx, find); err != nil {
				all = append(all, missing("python", "install it, or name another Python by PYTHON",
					"%s is not there for %s (%s)%s", name, l.python(), reason(err), n.who))
			} else {
				all = append(all, fine("python", "%s%s", name, n.who))
			}
		}
	}
	return all
}
