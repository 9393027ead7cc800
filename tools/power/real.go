package main

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
)

// recordings are runs of real servers, which testdata/README.md describes.
//
//go:embed testdata/*.csv
var recordings embed.FS

// A recording is what happened to one configuration: its server starts in the order of time, each
// with the factors of its runs.
type recording [][]factor

// allNoises are the models and the recordings.
func allNoises() ([]noise, error) {
	all := models()
	files, err := recordings.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := recordings.ReadFile(path.Join("testdata", f.Name()))
		if err != nil {
			return nil, err
		}
		r, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, noise{"real " + strings.TrimSuffix(f.Name(), ".csv"), r.begin})
	}
	return all, nil
}

// parse reads a recording, in which each row has the number of its start and the values of a run. Its
// factors are around 0.
func parse(text []byte) (recording, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("it has no runs")
	}
	start := slices.Index(rows[0], "start")
	var r recording
	var sum factor
	for i, row := range rows[1:] {
		var f factor
		for k, name := range names {
			column := slices.Index(rows[0], name)
			if column < 0 || start < 0 {
				return nil, fmt.Errorf("it has no column for the start or for %s", name)
			}
			v, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				return nil, err
			}
			f[k] = worseUp(k, v)
			sum[k] += f[k]
		}
		if i == 0 || row[start] != rows[i][start] {
			r = append(r, nil)
		}
		r[len(r)-1] = append(r[len(r)-1], f)
	}
	for _, runs := range r {
		for i := range runs {
			for k := range names {
				runs[i][k] -= sum[k] / float64(len(rows)-1)
			}
		}
	}
	return r, nil
}

// worseUp is the logarithm of a value of a gated number, with its sign changed where more is better.
func worseUp(number int, value float64) float64 {
	if number == 0 { // a throughput
		return -math.Log(value)
	}
	return math.Log(value)
}

// stretch is the mean number of neighbouring starts that begin takes from a recording in one piece.
const stretch = 20

// begin draws stretches of neighbouring starts, so that what neighbours have in common stays as it was
// (D. Politis and J. Romano, "The Stationary Bootstrap", Journal of the American Statistical Association
// 89 (1994)), and of each start any of its runs.
func (r recording) begin(chance *rand.Rand, _ int) func(slot) factor {
	at, start := 0, -1
	return func(s slot) factor {
		switch {
		case start < 0 || s.start != start && chance.IntN(stretch) == 0:
			at = chance.IntN(len(r))
		case s.start != start:
			at = (at + 1) % len(r)
		}
		start = s.start
		return r[at][chance.IntN(len(r[at]))]
	}
}
