package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

func TestMarkedChunksAreLeftOut(t *testing.T) {
	const ms = time.Millisecond
	r := &record.Record{ID: "a", Result: record.Result{Class: record.OK}}
	for _, at := range []time.Duration{50 * ms, 70 * ms, 120 * ms, 121 * ms, 142 * ms} {
		r.Answer.Chunks.Append(at)
	}
	r.Answer.Late.Add(2, 30*ms) // it came at 90
	var out bytes.Buffer
	w := stream.NewWriter(&out)
	if err := errors.Join(w.Begin(&metrics.Header{Run: "1"}), w.Write(r)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		answers map[string][]float64
		want    float64
		failure string
	}{
		{answers: map[string][]float64{"a": {20, 20, 31, 20}}, want: 0.99},
		{answers: map[string][]float64{"a": {20}}, failure: "5 chunks"},
		{answers: map[string][]float64{"b": {20, 20, 31, 20}}, failure: `"a"`},
	} {
		got, err := unmarked(bytes.NewReader(out.Bytes()), test.answers)
		if test.failure == "" && (err != nil || got-test.want > 1e-9 || test.want-got > 1e-9) {
			t.Errorf("off by %v, %v, want %v", got, err, test.want)
		}
		if test.failure != "" && (err == nil || !strings.Contains(err.Error(), test.failure)) {
			t.Errorf("error %v, want %s", err, test.failure)
		}
	}
	if _, err := unmarked(strings.NewReader(""), nil); err == nil {
		t.Error("nothing is measured without an error")
	}
}
