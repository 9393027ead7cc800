package sweep

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// Check checks that the commands of the plan and their folders exist, and that GPUs can be watched,
// as far as possible before a run. Errors name the file and the line; an empty file is the command
// line.
func (p *Plan) Check(file string) error {
	for _, a := range p.Arms {
		for _, s := range a.Servers {
			if err := s.check(); err != nil {
				return located(file, at(&yaml.Node{Line: s.Line}, "arm %s: %w", a.Name, err))
			}
		}
	}
	if words := p.Between.Command; words != nil {
		if err := (&Server{Command: words}).check(); err != nil {
			return located(file, at(&yaml.Node{Line: p.Between.Line}, "between: %w", err))
		}
	}
	for _, load := range p.loads.of {
		if err := load.Plan.Watch.Check(load.Plan.Program.Spelling); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) check() error {
	if s.Folder != "" {
		if info, err := os.Stat(s.Folder); err != nil || !info.IsDir() {
			return fmt.Errorf("folder: there is no folder %s", s.Folder)
		}
	}
	if dir := filepath.Dir(s.Log); s.Log != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("log: there is no folder %s", dir)
		}
	}
	for _, words := range [][]string{s.Command, s.Stop} {
		if len(words) == 0 || portName.MatchString(words[0]) {
			continue
		}
		if _, err := s.Find(words[0]); err != nil {
			return err
		}
	}
	return nil
}

// Find looks for a program where the server's holder will look, and gives its path.
func (s *Server) Find(name string) (string, error) {
	path, own := s.Env["PATH"]
	switch {
	case filepath.Base(name) != name:
		if filepath.IsAbs(name) {
			break
		}
		var err error
		if name, err = filepath.Abs(filepath.Join(s.Folder, name)); err != nil {
			return "", err
		}
	case own:
		for _, dir := range filepath.SplitList(path) {
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
				return found, nil
			}
		}
		return "", fmt.Errorf("%q is not in the PATH of its env, %s", name, path)
	}
	return exec.LookPath(name)
}

// stopTime is how long servers and commands may take to end after the sweep was killed.
func (p *Plan) stopTime() time.Duration {
	longest := betweenGrace + hold.Settle
	for _, a := range p.Arms {
		var all time.Duration // an interrupted sweep stops them one after the other
		for _, s := range a.Servers {
			all += s.Grace + hold.Settle
			if s.Stop != nil {
				all += s.Grace
			}
		}
		longest = max(longest, all)
	}
	return longest
}
