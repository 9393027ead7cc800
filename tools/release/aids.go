package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// manualFolder is the folder of the manual pages in an archive.
const manualFolder = "man/"

// completions are the files that complete command lines, in the shell that each is for
// and below /usr/share in Debian.
var completions = map[string]struct{ shell, debian string }{
	"servebench.bash": {"bash", "bash-completion/completions/servebench"},
	"_servebench":     {"zsh", "zsh/vendor-completions/_servebench"},
	"servebench.fish": {"fish", "fish/vendor_completions.d/servebench.fish"},
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
	pages := filepath.Join(folder, "man")
	if text, err := exec.Command(program, "man", pages).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("servebench man: %w\n%s", err, text)
	}
	names, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return nil, err
	}
	var aids []file
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		aids = append(aids, file{manualFolder + filepath.Base(name), 0o644, text})
	}
	for _, name := range slices.Sorted(maps.Keys(completions)) {
		text, err := exec.Command(program, "completion", completions[name].shell).Output()
		if err != nil {
			return nil, fmt.Errorf("servebench completion: %w", err)
		}
		aids = append(aids, file{"completions/" + name, 0o644, text})
	}
	return aids, nil
}
