package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// papers are the documents that come with a binary: the licence, the README, the list of changes,
// and the notices of everyone whose work is in it.
func papers(info *debug.BuildInfo) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", noticesName} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
	notices := &files[len(files)-1].data
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "LICENSE"))
	if err != nil {
		return nil, err
	}
	*notices = append(*notices, notice("Go's standard library "+strings.TrimPrefix(info.GoVersion, "go")+
		", https://go.dev", text)...)
	for _, module := range info.Deps {
		text, err := noticesOf(module)
		if err != nil {
			return nil, err
		}
		*notices = append(*notices, text...)
	}
	return files, nil
}

const noticesName = "THIRD_PARTY_NOTICES"

// noticesOf are the licences and notices of a module and of the parts that it copied.
func noticesOf(module *debug.Module) ([]byte, error) {
	m := cmp.Or(module.Replace, module)
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module.Path).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m %s: %w", module.Path, err)
	}
	root := os.DirFS(strings.TrimSpace(string(folder)))
	var text []byte
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !legal.MatchString(entry.Name()) {
			return err
		}
		data, err := fs.ReadFile(root, name)
		text = append(text, notice(fmt.Sprintf("%s %s, %s", m.Path, m.Version, name), data)...)
		return err
	})
	if err == nil && text == nil {
		err = fmt.Errorf("%s has no licence: is it free to be passed on?", module.Path)
	}
	return text, err
}

// legal are the names of files with licences and notices.
var legal = regexp.MustCompile(`^((?:UN)?LICEN[CS]E|COPYING|NOTICE)([.-].*)?$`)

// notice is the text of one licence below a title.
func notice(title string, text []byte) []byte {
	rule := strings.Repeat("-", 80)
	return fmt.Appendf(nil, "\n%s\n%s\n%s\n\n%s\n", rule, title, rule, bytes.TrimSpace(text))
}
