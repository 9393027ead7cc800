package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stream"
)

// streamFile is the name of servebench's record stream.
const streamFile = "run.jsonl"

// unmarkedIn is unmarked for the stream in a folder.
func unmarkedIn(dir string, answers map[string][]float64) (float64, error) {
	f, err := os.Open(filepath.Join(dir, streamFile))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return unmarked(f, answers)
}

// unmarked is the error of P99 ITL in milliseconds over the gaps between chunks that servebench did
// not mark: what a record stream says of them less what the server wrote. Answers have the true gaps,
// by the request's id.
func unmarked(records io.Reader, answers map[string][]float64) (float64, error) {
	var measured, written []float64
	for entry, err := range stream.NewReader(records).Entries() {
		if err != nil {
			return 0, err
		}
		r := entry.Record
		if r == nil {
			continue
		}
		gaps := answers[r.ID]
		if r.Answer.Chunks.Len() != len(gaps)+1 {
			return 0, fmt.Errorf("request %q has %d chunks, and %d gaps were written", r.ID, r.Answer.Chunks.Len(), len(gaps))
		}
		marked := make([]bool, r.Answer.Chunks.Len())
		for i := range r.Answer.Late.All() {
			marked[i] = true
		}
		i := 0
		for gap := range r.Answer.Chunks.Gaps() {
			if !marked[i] && !marked[i+1] {
				measured, written = append(measured, gap.Seconds()*1000), append(written, gaps[i])
			}
			i++
		}
	}
	if len(measured) == 0 {
		return 0, fmt.Errorf("all chunks are marked")
	}
	slices.Sort(measured)
	slices.Sort(written)
	return numpy.Percentile(measured, 99) - numpy.Percentile(written, 99), nil
}
