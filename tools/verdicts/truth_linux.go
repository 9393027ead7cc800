package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// A note is what the server noted of a request. Times are on the server's clock.
type note struct {
	ID       string          `json:"id"`
	Received time.Duration   `json:"received"` // when the kernel received it
	Writes   []time.Duration `json:"writes"`   // of each token, right before it
}

// readNotes reads lines of JSON.
func readNotes(r io.Reader) (notes []note, err error) {
	for d := json.NewDecoder(r); ; {
		var n note
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return notes, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the truth: %w", err)
		}
		notes = append(notes, n)
	}
}

// latencies are the true values of a run in milliseconds, by their names in result files.
func latencies(notes []note) map[string][]float64 {
	all := map[string][]float64{}
	add := func(name string, from, to time.Duration, gaps int) {
		all[name] = append(all[name], (to-from).Seconds()*1000/float64(gaps))
	}
	for _, n := range notes {
		last := len(n.Writes) - 1
		if last < 0 {
			continue
		}
		add("ttft", n.Received, n.Writes[0], 1)
		add("e2el", n.Received, n.Writes[last], 1)
		if last > 0 {
			add("tpot", n.Writes[0], n.Writes[last], last)
		}
		for i := range last {
			add("itl", n.Writes[i], n.Writes[i+1], 1)
		}
	}
	return all
}

// statistics are the numbers of a result block, in its order.
func statistics(values []float64) (all [3]float64) {
	values = slices.Sorted(slices.Values(values))
	for _, v := range values {
		all[0] += v / float64(len(values))
	}
	all[1], all[2] = percentile(values, 50), percentile(values, 99)
	return all
}

// percentile is a percentile of sorted values, interpolated as numpy does.
func percentile(values []float64, p float64) float64 {
	at := p / 100 * float64(len(values)-1)
	below := int(at)
	above := min(below+1, len(values)-1)
	return values[below] + (values[above]-values[below])*(at-float64(below))
}
