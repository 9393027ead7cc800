package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/reporttest"
)

func TestAResultFileKeepsTheStartOfTheServer(t *testing.T) {
	for _, want := range []*metrics.ServerStart{
		nil,
		{ID: "1700000000.5", By: "process_start_time_seconds", Began: time.Unix(1700000000, 500e6).UTC(), PID: 7, Version: "0.33.0"},
		{ID: "a", By: "listener"},
	} {
		s := aspect.Collector(&metrics.Header{Run: "r", Server: want}).Summary(1)
		var file bytes.Buffer
		if err := JSON(&file, s, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		read, err := stream.Read(&file, metrics.Ask{})
		if err != nil || len(read) != 1 || !reflect.DeepEqual(read[0].Header.Server, want) {
			t.Errorf("%v, %v, want %+v", read, err, want)
		}
	}
}

func TestTheStartOfTheServerIsAFact(t *testing.T) {
	for want, start := range map[string]*metrics.ServerStart{
		"": nil,
		"Server start 2023-11-14 22:13:20.50 UTC (by process_start_time_seconds), process 7, version 0.33.0": {ID: "1", By: "process_start_time_seconds", Began: time.Unix(1700000000, 500e6), PID: 7, Version: "0.33.0"},
		"Server start 2023-11-14 22:13:20.00 UTC (by sweep)":                                                 {ID: "x", By: "sweep", Began: time.Unix(1700000000, 0)},
	} {
		s := reporttest.Measured(metrics.Config{}, 3, func(int, *record.Record) {})
		s.Header.Server = start
		var text bytes.Buffer
		if err := Truth(&text, s); err != nil {
			t.Fatal(err)
		}
		words := strings.Join(strings.Fields(text.String()), " ")
		if strings.Contains(words, "Server start") != (start != nil) || !strings.Contains(words, want) {
			t.Errorf("%s\nlacks the line of %q", &text, want)
		}
	}
}
