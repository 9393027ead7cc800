package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// completions are the files that complete command lines, by shell.
var completions = []struct{ shell, name string }{
	{"zsh", "_servebench"}, {"bash", "servebench.bash"}, {"fish", "servebench.fish"},
}

// findAids makes a servebench that runs on this machine write its manual pages and completions.
func (r *release) findAids() ([]file, error) {
	folder, err := os.MkdirTemp("", "servebench-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program, err := r.compile(platform{os: runtime.GOOS, arch: runtime.GOARCH}, folder)
	if err != nil {
		return nil, err
	}
	if text, err := exec.Command(program, "man", filepath.Join(folder, "man")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("servebench man: %w\n%s", err, text)
	}
	names, err := filepath.Glob(filepath.Join(folder, "man/*.1"))
	if err != nil {
		return nil, err
	}
	var aids []file
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		aids = append(aids, file{"man/" + filepath.Base(name), 0o644, text})
	}
	for _, c := range completions {
		text, err := exec.Command(program, "completion", c.shell).Output()
		if err != nil {
			return nil, fmt.Errorf("servebench completion %s: %w", c.shell, err)
		}
		aids = append(aids, file{"completions/" + c.name, 0o644, text})
	}
	return aids, nil
}
