package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/stream"
)

// A truth is what counts of a line of the simulator's request log: the spans in milliseconds.
type truth struct {
	ID    string
	Spans struct {
		FrontEnd   float64 `json:"front_end"`
		Queue      float64 `json:"queue"`
		Prefill    float64 `json:"prefill"`
		Network    float64 `json:"network"`
		Generation float64 `json:"generation"`
	} `json:"spans_ms"`
}

// of is how long a span of the client really took, in milliseconds.
func (t *truth) of(span spans.Span) float64 {
	switch span {
	case spans.ServerQueue:
		return t.Spans.Queue
	case spans.Prefill:
		return t.Spans.Prefill
	case spans.Network:
		return t.Spans.FrontEnd + t.Spans.Network
	case spans.Generation:
		return t.Spans.Generation
	}
	panic(span)
}

// known are the spans whose truth the simulator knows.
var known = []spans.Span{spans.ServerQueue, spans.Prefill, spans.Network, spans.Generation}

// An errorOf is how far the client's times of a span are from the truth, over all requests.
type errorOf struct {
	span     spans.Span
	requests int
	mean     float64   // of the true times, in milliseconds
	off      []float64 // the client's time less the true one, without sign, in milliseconds; ascending
}

// at is a percentile of the errors.
func (e *errorOf) at(p float64) float64 {
	return e.off[max(0, int(math.Ceil(p/100*float64(len(e.off))))-1)]
}

// errorsOf compares the records of a run with the simulator's log of it, request by request.
func errorsOf(records, log io.Reader) ([]*errorOf, error) {
	truths, err := readLog(log)
	if err != nil {
		return nil, err
	}
	var all []*errorOf
	for _, span := range known {
		all = append(all, &errorOf{span: span})
	}
	for entry, err := range stream.NewReader(records).Entries() {
		if err != nil {
			return nil, err
		}
		if entry.Record == nil {
			continue
		}
		t, logged := truths[entry.Record.ID]
		parts, completed := spans.OfRequest(entry.Record)
		if !logged || !completed {
			return nil, fmt.Errorf("request %s: completed %v, in the log %v: %s", entry.Record.ID, completed, logged,
				entry.Record.Result.Error)
		}
		for _, e := range all {
			e.add(parts[e.span], t)
		}
	}
	if all[0].requests == 0 {
		return nil, errors.New("no request was sent")
	}
	for _, e := range all {
		slices.Sort(e.off)
	}
	return all, nil
}

func (e *errorOf) add(took time.Duration, t *truth) {
	e.requests++
	e.mean += (t.of(e.span) - e.mean) / float64(e.requests)
	e.off = append(e.off, math.Abs(metrics.Milliseconds(took)-t.of(e.span)))
}

// readLog reads a request log by request id.
func readLog(log io.Reader) (map[string]*truth, error) {
	truths := map[string]*truth{}
	for d := json.NewDecoder(log); ; {
		t := new(truth)
		if err := d.Decode(t); err == io.EOF {
			return truths, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the request log: %w", err)
		}
		truths[t.ID] = t
	}
}

// worst is the span with the largest error at a percentile.
func worst(all []*errorOf, p float64) *errorOf {
	return slices.MaxFunc(all, func(a, b *errorOf) int { return cmp.Compare(a.at(p), b.at(p)) })
}
