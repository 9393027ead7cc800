package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
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

// A selftest is what is needed of what servebench selftest prints.
type selftest struct {
	Rows []struct {
		Load     string
		Void     string
		Failed   int
		MeanTTFT pair `json:"ttft_mean_ms"`
		P99TTFT  pair `json:"ttft_p99_ms"`
		P99ITL   pair `json:"itl_p99_ms"`
	}
	Streams int `json:"trusted_streams"`
}

// A pair is a figure as it was measured and as it was.
type pair struct{ Measured, True float64 }

func (p pair) off() float64 { return math.Abs(p.Measured - p.True) }

// startsOfMany takes the rows of many streams that start from servebench selftest.
func (p *plan) startsOfMany() ([]row, error) {
	if p.quick {
		return []row{{"1024 streams at once, and Poisson", "not in quick mode: see servebench selftest", "", void}}, nil
	}
	out, err := exec.Command(p.program, "selftest", "--json", "--no-store").Output()
	if err != nil {
		return nil, errors.Join(errors.New("servebench selftest"), err)
	}
	var test selftest
	if err := json.Unmarshal(out, &test); err != nil {
		return nil, fmt.Errorf("servebench selftest: %w", err)
	}
	return test.starts(), nil
}

func (s selftest) starts() []row {
	var rows []row
	for _, r := range s.Rows {
		var add row
		mean := r.MeanTTFT.off()
		switch r.Load {
		case "at-once":
			p99 := r.P99TTFT.off()
			add = row{"1024 at once: TTFT against the truth", fmt.Sprintf("mean %.2f ms off, p99 %.2f ms off", mean, p99), "≤ 2, ≤ 10 ms", verdictOf(mean <= 2 && p99 <= 10)}
		case "poisson":
			itl := r.P99ITL.off()
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
	return append(rows, row{measure: "numbers can be trusted up to", figure: fmt.Sprintf("%d streams", s.Streams)})
}
