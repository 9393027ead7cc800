package truth

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/numpy"
)

// A Truth is what the server saw of a run. Times are in milliseconds.
type Truth struct {
	Requests    int     `json:"requests"`
	Chunks      int     `json:"chunks"`
	Connections int     `json:"connections"`
	Failures    int     `json:"failures"` // answers that could not be written to their end
	FirstNS     int64   `json:"first_ns"` // when the first request arrived, since 1970
	Seconds     float64 `json:"seconds"`  // from the first request to the last write
	TTFT        Spread  `json:"ttft"`     // from the arrival of a request to its first write
	ITL         Spread  `json:"itl"`      // between writes
	Lag         Spread  `json:"lag"`      // of requests that are due at even gaps

	Answers map[string][]float64 `json:"answers,omitempty"` // the ITL of each, by the request's id
}

// A Spread is of times in milliseconds.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// notes are what the server keeps while it runs.
type notes struct {
	Truth
	arrivals    []int64 // in nanoseconds since 1970
	ttfts, itls []time.Duration
	last        int64
	kept        []Kept
}

// gap notes one of an answer's gaps.
func (n *notes) gap(id string, gap time.Duration) {
	if n.Answers == nil {
		n.Answers = make(map[string][]float64)
	}
	n.Answers[id] = append(n.Answers[id], gap.Seconds()*1000)
}

// print writes the truth as JSON.
func (n *notes) print(w io.Writer, gap time.Duration) error {
	slices.Sort(n.arrivals)
	n.Requests, n.Chunks = len(n.arrivals), len(n.ttfts)+len(n.itls)
	n.TTFT, n.ITL = SpreadOf(n.ttfts), SpreadOf(n.itls)
	if n.Requests > 0 {
		n.FirstNS = n.arrivals[0]
		n.Seconds = float64(n.last-n.FirstNS) / 1e9
	}
	if gap > 0 {
		n.Lag = SpreadOf(lags(n.arrivals, gap))
	}
	if err := json.NewEncoder(w).Encode(n.Truth); err != nil {
		return fmt.Errorf("writing the truth: %w", err)
	}
	return nil
}

// lags are how late requests came that are due at even gaps: behind a line of that slope that
// touches the earliest. Arrivals are in ascending order.
func lags(arrivals []int64, gap time.Duration) []time.Duration {
	late := make([]time.Duration, len(arrivals))
	for i, at := range arrivals {
		late[i] = time.Duration(at) - time.Duration(i)*gap
	}
	if len(late) == 0 {
		return nil
	}
	earliest := slices.Min(late)
	for i := range late {
		late[i] -= earliest
	}
	return late
}

// SpreadOf describes times, in any order.
func SpreadOf(times []time.Duration) Spread {
	if len(times) == 0 {
		return Spread{}
	}
	ms := make([]float64, len(times))
	for i, t := range times {
		ms[i] = t.Seconds() * 1000
	}
	slices.Sort(ms)
	return Spread{numpy.Mean(ms), numpy.Median(ms), numpy.Percentile(ms, 99)}
}
