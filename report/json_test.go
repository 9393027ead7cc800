package report

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
)

func TestAResultFileKeepsTheStartOfTheServer(t *testing.T) {
	for _, want := range []*metrics.ServerStart{
		nil,
		{ID: "1700000000.5", By: "process_start_time_seconds", Began: time.Unix(1700000000, 500e6).UTC(), PID: 7, Version: "0.33.0"},
		{ID: "a", By: "listener"},
	} {
		s := metrics.NewCollector(&metrics.Header{Run: "r", Server: want}).Summary(1)
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
