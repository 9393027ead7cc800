package stream_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// A run is written as it goes, and read again later.
func Example() {
	var file bytes.Buffer
	header := &metrics.Header{Run: "example", Epoch: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	c, w := aspect.Collector(header), stream.NewWriter(&file)
	if err := w.Begin(header); err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		sent := time.Duration(i) * time.Second
		r := &record.Record{Run: header.Run, Index: i, Times: record.Times{Due: sent, Slot: sent, Sent: sent}, Tokens: record.Tokens{In: 8, Out: 2}}
		r.Answer.Chunks.Append(r.Times.Sent + 20*time.Millisecond)
		r.Answer.Chunks.Append(r.Times.Sent + 30*time.Millisecond)
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
		if err := w.Write(r); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.End(c.Summary(3)); err != nil {
		fmt.Println(err)
		return
	}
	sums, err := stream.Read(&file, metrics.Ask{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := sums[0]
	fmt.Println(s.Header.Run, s.Completed, "requests, mean TTFT", s.TTFT.Mean(), "ms,", s.Trust.Verdict)
	// Output: example 3 requests, mean TTFT 20 ms, VALID
}

// A Reader gives single requests, of any runs that the stream has.
func ExampleReader() {
	var file bytes.Buffer
	w := stream.NewWriter(&file)
	header := &metrics.Header{Run: "example"}
	for _, err := range []error{w.Begin(header), w.Write(&record.Record{Result: record.Result{Class: record.Status, Status: 503, Error: "no capacity"}})} {
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	for entry, err := range stream.NewReader(&file).Entries() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if r := entry.Record; r != nil {
			fmt.Println(entry.Run, r.Result.Status, r.Result.Error)
		}
	}
	// Output: example 503 no capacity
}
