package main

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/tools/peers/truth"
)

var update = flag.Bool("update", false, "write the golden page")

// madeUp is a report with two turns of some measurements.
func madeUp() *report {
	r := &report{
		Machine:  machine{CPU: "Made-up CPU", Cores: 2, Linux: "6.1", Date: "2026-11-23", Load: 0.25},
		Versions: map[string]string{ours: "servebench version 1", rust: "vLLM 0.33.0"},
	}
	for turn, more := range []float64{0, 1} {
		for i, name := range []string{ours, warm, rust} {
			f := float64(i)
			for _, m := range []string{"64 at once", "1024 in lock-step", "512 streams", "starts, 64 in flight", "1000 a second"} {
				r.Results = append(r.Results, result{
					Measurement: m, Client: name, CPU: 2 + f + more, Memory: 20 + 10*f, Wait: 300 - 100*f + more, Others: f / 100, Unit: 15 - 3*f, Unmarked: f / 10,
					Figures: figures{Completed: 64, MeanTTFT: 55 - f + more, P99TTFT: 60 - f, P99ITL: 20.001 + 3*f,
						Verdict: []string{"VALID", "SUSPECT"}[turn], Marked: f, LeastITL: 20, MostITL: 22 + f},
					Truth: truth.Truth{Requests: 64, Seconds: 0.5 + f,
						TTFT: truth.Spread{Mean: 50, P50: 50, P99: 51}, ITL: truth.Spread{Mean: 20, P50: 20, P99: 20.001},
						Lag: truth.Spread{P50: f, P99: 2 * f}},
				})
			}
		}
	}
	r.Results = append(r.Results, result{Measurement: "64 at once", Client: python, Error: "killed"})
	return r
}

func TestPageIsWritten(t *testing.T) {
	var page strings.Builder
	if err := madeUp().write(&page); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "page.md")
	if *update {
		if err := os.WriteFile(golden, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if page.String() != string(want) {
		t.Errorf("the page differs from %s: -update rewrites it\n%s", golden, page.String())
	}
}

func TestResultsAreKeptAndReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bin", "peers.json")
	r := madeUp()
	if err := r.keep(name); err != nil {
		t.Fatal(err)
	}
	for only, gone := range map[string]string{"at once": "64 at once", "512 streams": "512 streams"} {
		kept, err := readReport(name, only)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(r.Results), func(x result) bool { return x.Measurement == gone })
		if !slices.EqualFunc(kept.Results, want, same) {
			t.Errorf("-only %q keeps %d results, want %d", only, len(kept.Results), len(want))
		}
	}
	if all, err := readReport(name, ""); err != nil || len(all.Results) > 0 {
		t.Errorf("a whole run keeps %d results, %v", len(all.Results), err)
	}
	if none, err := readReport(name+".missing", "512 streams"); err != nil || len(none.Results) > 0 {
		t.Errorf("without a file there are %d results, %v", len(none.Results), err)
	}
}

// same compares results without answers.
func same(a, b result) bool { return reflect.DeepEqual(a, b) }

func TestWorseIsClearlyWorse(t *testing.T) {
	of := func(values ...float64) cell { return cell{values: values} }
	for _, test := range []struct {
		better      better
		ours, other cell
		worse       bool
	}{
		{lower, of(10, 12, 14), of(10), true},
		{lower, of(11), of(10), false},
		{lower, of(9), of(10), false},
		{higher, of(90), of(100), true},
		{higher, of(95), of(100), false},
		{nearer, of(-3), of(2), true},
		{nearer, of(0.06), of(0.02), false},
		{nearer, of(0.08), of(-0.02), true},
		{nearer, of(2), of(-3), false},
		{lower, of(), of(1), false},
		{lower, of(1), of(), false},
	} {
		if got := (row{better: test.better}).worse(test.ours, test.other); got != test.worse {
			t.Errorf("%+v: worse is %t", test, got)
		}
	}
}

func TestFiguresAreShown(t *testing.T) {
	for _, test := range []struct {
		cell   cell
		better better
		want   string
	}{
		{cell{values: []float64{1, 2, 30}}, lower, "2.00 (1.00 to 30.00)"},
		{cell{values: []float64{123.44}}, higher, "123.4"},
		{cell{values: []float64{12345.6}}, higher, "12346"},
		{cell{values: []float64{-0.001, 0.004, 7}}, nearer, "0.00 (0.00 to +7.00)"},
		{cell{values: []float64{-0.5}}, nearer, "-0.50"},
		{cell{failed: "killed"}, lower, "failed"},
		{cell{}, lower, "–"},
	} {
		if got := test.cell.text(test.better); got != test.want {
			t.Errorf("%+v: %q, want %q", test.cell, got, test.want)
		}
	}
}
