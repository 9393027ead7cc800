package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/servebench/servebench/metrics"
)

func selftestFile() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "servebench", "selftest.json"), nil
}

// storeSelftest keeps a result for the runs to come. The file appears whole.
func storeSelftest(r *selftestResult) error {
	name, err := selftestFile()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// storedSelftest is what the last selftest found of this machine. It is nil when
// there was none, or when it was of another machine, of other cores or of another
// version.
func storedSelftest() (*metrics.Vouched, error) {
	name, err := selftestFile()
	if err != nil {
		return nil, nil // a user without a home has kept nothing
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("the stored selftest: %w", err)
	}
	var stored selftestResult
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("the stored selftest: reading %s: %w", name, err)
	}
	here := newSelftestResult()
	if stored.Host != here.Host || stored.Cores != here.Cores || stored.Version != here.Version || stored.System != here.System {
		return nil, nil
	}
	vouched := new(metrics.Vouched)
	if best, _ := stored.trusted(); best != nil {
		vouched.Streams, vouched.ErrorP99 = best.Streams, time.Duration(best.Stamp.P99*float64(time.Microsecond))
	}
	return vouched, nil
}
