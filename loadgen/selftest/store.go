package selftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/metrics"
)

// file is where the user's result is kept.
func file() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "servebench", "selftest.json"), nil
}

// Store keeps the result for Stored, in place of an earlier one, in the user's
// configuration folder. The file appears whole. Without a valid row in steps the
// result says nothing, and Store keeps the earlier one. It gives the file that it
// wrote, "" for none.
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

// Stored is what the last selftest found of this machine. It is nil when there
// was none, or when it was of another machine, of other cores or of another
// version of servebench than the one given.
func Stored(version string) (*metrics.Vouched, error) {
	name, err := file()
	if err != nil {
		return nil, nil // a user without a home has kept nothing
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
	if stored.Host != here.Host || stored.Cores != here.Cores || stored.Version != here.Version || stored.System != here.System {
		return nil, nil
	}
	return stored.vouched(), nil
}
