package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"

	"github.com/servebench/servebench/loadgen/selftest"
)

// buildProgram builds servebench itself into dir.
func buildProgram(dir string) (program string, err error) {
	program = filepath.Join(dir, "servebench")
	build := exec.Command("go", "build", "-o", program, "./cmd/servebench")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return program, nil
}

// startsOfMany takes the rows of many streams that start from servebench selftest.
func (p *plan) startsOfMany() ([]row, error) {
	if p.quick {
		return []row{{"1024 streams at once, and Poisson", "not in quick mode: see servebench selftest", "", void}}, nil
	}
	out, err := exec.Command(p.program, "selftest", "--json", "--no-store").Output()
	if err != nil {
		return nil, errors.Join(errors.New("servebench selftest"), err)
	}
	var test selftest.Result
	if err := json.Unmarshal(out, &test); err != nil {
		return nil, fmt.Errorf("servebench selftest: %w", err)
	}
	return startRows(&test), nil
}

// startRows are the rows in which many streams start.
func startRows(s *selftest.Result) []row {
	var rows []row
	for _, r := range s.Rows {
		var add row
		mean := off(r.MeanTTFT)
		switch r.Load {
		case "at-once":
			p99 := off(r.P99TTFT)
			add = row{"1024 at once: TTFT against the truth", fmt.Sprintf("mean %.2f ms off, p99 %.2f ms off", mean, p99), "≤ 2, ≤ 10 ms", verdictOf(mean <= 2 && p99 <= 10)}
		case "poisson":
			itl := off(r.P99ITL)
			add = row{"Poisson to 1024: against the truth", fmt.Sprintf("mean TTFT %.2f ms off, p99 ITL %.2f ms off", mean, itl), "≤ 1, ≤ 1 ms", verdictOf(mean <= 1 && itl <= 1)}
		default:
			continue
		}
		if r.Failed > 0 {
			add.figure, add.verdict = fmt.Sprintf("%s; %d requests failed", add.figure, r.Failed), missed
		}
		if r.Void != "" {
			add.figure, add.verdict = fmt.Sprintf("%s; %s", add.figure, r.Void), void
		}
		rows = append(rows, add)
	}
	return append(rows, row{measure: "numbers can be trusted up to", figure: fmt.Sprintf("%d streams", s.TrustedStreams)})
}

// off is how far a figure is from the truth, either way.
func off(p selftest.Pair) float64 { return math.Abs(p.Measured - p.True) }
