package preflight

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/servebench/servebench/loadgen/sweep"
)

// A server is what the command of one server asks for.
type server struct {
	*sweep.Server
	arm   string
	calls [][]string        // of programs, with the words that are known
	vllm  string            // the program of vllm serve, empty for another server
	flags map[string]string // of vllm serve, by their names without dashes
	getenv
}

// getenv gives the value of a variable.
type getenv func(name string) string

func (l *look) readServers() {
	for i := range l.plan.Arms {
		a := &l.plan.Arms[i]
		for j := range a.Servers {
			l.servers = append(l.servers, newServer(a.Name, &a.Servers[j], l.machine.Getenv))
		}
	}
}

func newServer(arm string, from *sweep.Server, outer getenv) *server {
	s := &server{Server: from, arm: arm, flags: map[string]string{}}
	s.getenv = func(name string) string {
		if value, ok := from.Env[name]; ok {
			return value
		}
		return outer(name)
	}
	s.calls = calls(from.Command, s.getenv)
	for _, call := range s.calls {
		if i := serveAt(call); i >= 0 {
			s.vllm = call[i]
			s.readFlags(call[i+2:])
		}
	}
	return s
}

// serveAt is where a call has vllm serve, after the scripts that it runs through; -1 for no place.
func serveAt(call []string) int {
	for i := range len(call) - 1 {
		if filepath.Base(call[i]) == "vllm" && call[i+1] == "serve" {
			return i
		}
	}
	return -1
}

// readFlags reads the words after vllm serve.
func (s *server) readFlags(words []string) {
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			continue // the model
		}
		name, value, joined := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if !joined && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		s.flags[strings.ReplaceAll(name, "_", "-")] = value
	}
}

// number is the value of a flag, or the usual one.
func (s *server) number(flag string, usual float64) float64 {
	if n, err := strconv.ParseFloat(s.flags[flag], 64); err == nil {
		return n
	}
	return usual
}

// elastic reports whether the server is to run with kvcached.
func (s *server) elastic() bool {
	on := strings.ToLower(s.getenv("ENABLE_KVCACHED"))
	return on == "true" || on == "1"
}

// programs are the programs of the server's commands.
func (s *server) programs() (names []string) {
	for _, call := range slices.Concat(s.calls, calls(s.Stop, s.getenv)) {
		names = append(names, programsOf(call)...)
	}
	return unique(names)
}

// programsOf are the first word of a call, and what it runs before vllm serve.
func programsOf(call []string) []string {
	names := call[:1:1]
	if i := serveAt(call); i >= 0 {
		for _, word := range call[1 : i+1] {
			if strings.Contains(word, "/") || filepath.Base(word) == "vllm" {
				names = append(names, word)
			}
		}
	}
	return names
}

// builtins are commands of the shell itself (POSIX.1-2024, 2.15 and 1.6).
var builtins = strings.Fields(`: . [ alias bg break cd command continue echo eval exec exit export false fc fg
	getopts hash jobs kill local printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait`)

var freePort = regexp.MustCompile(`^port[0-9]*$`)

// calls are the programs that a command runs, with their arguments. A text for the shell is read as
// bash would; words that only a running shell knows are left out.
func calls(command []string, env getenv) (all [][]string) {
	if len(command) == 0 {
		return nil
	}
	if len(command) != 3 || command[0] != "sh" || command[1] != "-c" {
		return [][]string{command}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command[2]), "")
	if err != nil {
		return nil
	}
	config := &expand.Config{Env: expand.FuncEnviron(func(name string) string {
		if freePort.MatchString(name) {
			return "${" + name + "}" // which the sweep puts in
		}
		return env(name)
	})}
	own := builtins
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			own = append(slices.Clone(own), n.Name.Value)
		case *syntax.CallExpr:
			var words []string
			for _, word := range n.Args {
				if fields, err := expand.Fields(config, word); err == nil {
					words = append(words, fields...)
				}
			}
			for len(words) > 0 && (words[0] == "exec" || words[0] == "command") {
				words = words[1:]
			}
			if len(words) > 0 {
				all = append(all, words)
			}
		}
		return true
	})
	return slices.DeleteFunc(all, func(call []string) bool { return slices.Contains(own, call[0]) })
}
