package sweep

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// words are the program of the command and its arguments; nil if the command is a text for the shell that
// does more than start one program.
func (s *Server) words() []string {
	if len(s.Command) != 3 || s.Command[0] != "sh" || s.Command[1] != "-c" {
		return s.Command
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(s.Command[2]), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 {
		return nil
	}
	known := true
	for _, word := range call.Args {
		syntax.Walk(word, func(n syntax.Node) bool {
			p, ok := n.(*syntax.ParamExp)
			known = known && (!ok || portName.MatchString("${"+p.Param.Value+"}"))
			return true
		})
	}
	config := &expand.Config{Env: expand.FuncEnviron(func(name string) string {
		if port := "${" + name + "}"; portName.MatchString(port) {
			return port // which the sweep puts in
		}
		return ""
	})}
	words, err := expand.Fields(config, call.Args...)
	if err != nil || !known {
		return nil
	}
	if len(words) > 0 && words[0] == "exec" {
		words = words[1:]
	}
	return words
}

// simulated reports whether the command starts servebench sim.
func (s *Server) simulated() bool { return simulator(s.words()) }

func simulator(words []string) bool {
	return len(words) > 1 && filepath.Base(words[0]) == "servebench" && words[1] == "sim"
}

// whyNotSimulated is why the servers of an arm cannot be simulated, empty if they can.
func (a *Arm) whyNotSimulated() string {
	if a.Servers == nil {
		return "it starts no server: only servebench sim can be simulated"
	}
	for i := range a.Servers {
		switch words := a.Servers[i].words(); {
		case simulator(words):
		case len(words) > 0:
			return "it starts " + filepath.Base(words[0]) + ": only servebench sim can be simulated"
		default:
			return "its command is a text with more than servebench sim and its flags: put these into a list of words, as " +
				"[servebench, sim, --port, \"${port}\"]"
		}
	}
	return ""
}
