package metrics

import "time"

// ServerTotals are times that a server itself measured and added up, of all requests that ended
// between two looks at its /metrics: also of warm-ups and of other clients. What it does not measure
// is empty.
type ServerTotals struct {
	Queue      TimeTotal `json:"queue,omitzero"`      // until it was scheduled
	Prefill    TimeTotal `json:"prefill,omitzero"`    // from then until the first token
	Generation TimeTotal `json:"generation,omitzero"` // from then until the last
	TTFT       TimeTotal `json:"ttft,omitzero"`       // from its arrival until the first token
}

// A TimeTotal is a sum of times, and of how many requests it is.
type TimeTotal struct {
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"`
}

// Mean is the mean in milliseconds; 0 without requests.
func (t TimeTotal) Mean() float64 { return t.Nanoseconds() / float64(time.Millisecond) }

// Nanoseconds is the mean in nanoseconds; 0 without requests.
func (t TimeTotal) Nanoseconds() float64 {
	if t.Requests <= 0 {
		return 0
	}
	return t.Seconds / float64(t.Requests) * float64(time.Second)
}

// each calls f with each total of t and of other.
func (t *ServerTotals) each(other *ServerTotals, f func(a, b *TimeTotal)) {
	f(&t.Queue, &other.Queue)
	f(&t.Prefill, &other.Prefill)
	f(&t.Generation, &other.Generation)
	f(&t.TTFT, &other.TTFT)
}

// Plus is the sum of t and other.
func (t ServerTotals) Plus(other ServerTotals) ServerTotals {
	t.each(&other, func(a, b *TimeTotal) { a.Seconds, a.Requests = a.Seconds+b.Seconds, a.Requests+b.Requests })
	return t
}

// Since is what was added since before; empty for what went back.
func (t ServerTotals) Since(before ServerTotals) ServerTotals {
	t.each(&before, func(a, b *TimeTotal) {
		if a.Seconds, a.Requests = a.Seconds-b.Seconds, a.Requests-b.Requests; a.Requests <= 0 || a.Seconds < 0 {
			*a = TimeTotal{}
		}
	})
	return t
}
