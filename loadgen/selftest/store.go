package selftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/metrics/evidence"
)

// file is the name of the user's stored result.
func file() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "servebench", "selftest.json"), nil
}

// Store writes the result into the user's configuration folder. It replaces an earlier one
// atomically and returns the file's name. A result without a valid row in steps proves nothing:
// then Store keeps the earlier one and returns "".
func (r *Result) Store() (name string, err error) {
	if best, wrong := r.trusted(); best == nil && wrong == nil {
		return "", nil
	}
	if name, err = file(); err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(name+".new", text.Bytes(), 0o644); err != nil {
		return "", err
	}
	return name, os.Rename(name+".new", name)
}

// Stored reads the last selftest of this machine. It is nil if there was none, or if the host, the
// system, the number of cores or the version of servebench differ.
func Stored(version string) (*evidence.Selftest, error) {
	name, err := file()
	if err != nil {
		return nil, nil // a user without a home has no stored result
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("the stored selftest: %w", err)
	}
	var stored Result
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("the stored selftest: reading %s: %w", name, err)
	}
	here := NewResult(version)
	if stored.Host != here.Host || stored.Cores != here.Cores || stored.Version != here.Version ||
		stored.System != here.System {
		return nil, nil
	}
	return stored.summary(), nil
}
