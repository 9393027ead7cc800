package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// The files of a run's folder. All of them are there or none is.
const (
	recordsFile = "run.jsonl.zst" // what the client recorded
	truthFile   = "truth.jsonl.zst"
	aboutFile   = "about.json"
)

// An about says how a run was made and how it ended.
type about struct {
	Load        string  `json:"load"`
	Condition   string  `json:"condition"`
	Set         set     `json:"set"`
	Seed        int     `json:"seed"` // of the workload
	TTFT        float64 `json:"ttft_ms"`
	ITL         float64 `json:"itl_ms"`
	Output      int     `json:"output_tokens"`
	LoadAverage float64 `json:"load_average"` // before the run
	Priority    bool    `json:"priority"`     // the client had it
	ExitCode    int     `json:"exit_code"`
	Verdict     string  `json:"verdict"` // the line that the run printed; empty for none
}

// A kept is a run that was made.
type kept struct {
	about
	name    string // of its folder, below the folder of all runs
	summary *metrics.Summary
	truth   []note
}

// keptRuns are the folders of all runs in a folder, in order.
func keptRuns(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && d.Name()[0] == '.': // is being made, or was not finished
			return fs.SkipDir
		case d.Name() == aboutFile:
			name, err := filepath.Rel(dir, filepath.Dir(path))
			names = append(names, name)
			return err
		}
		return nil
	})
	slices.SortFunc(names, compareNames)
	return names, err
}

// compareNames puts shorter names first within one folder: run 10 comes after run 9.
func compareNames(a, b string) int {
	if filepath.Dir(a) == filepath.Dir(b) && len(a) != len(b) {
		return len(a) - len(b)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// readKept reads a run as servebench report does, which judges it by the limits of today. The
// summary is nil if the client recorded no run.
func readKept(dir, name string) (*kept, error) {
	k := &kept{name: name}
	text, err := os.ReadFile(filepath.Join(dir, name, aboutFile))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &k.about); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name, aboutFile, err)
	}
	recorded := stream.Recorded{Warn: func(string) {}}
	sums, err := recorded.Read(filepath.Join(dir, name, recordsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, stream.ErrNothing):
		return k, nil
	case err != nil:
		return nil, err
	case len(sums) != 1:
		return nil, fmt.Errorf("%s: %d runs in %s, want one", name, len(sums), recordsFile)
	}
	k.summary = sums[0]
	f, err := os.Open(filepath.Join(dir, name, truthFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer unpacked.Close()
	if k.truth, err = readNotes(unpacked); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}
