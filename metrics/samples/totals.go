package samples

import "time"

// Totals are times that a server itself measured and added up, of all requests that ended
// between two looks at its /metrics: also of warm-ups and of other clients. What it does not measure
// is empty.
type Totals struct {
	Queue      Total `json:"queue,omitzero"`      // until it was scheduled
	Prefill    Total `json:"prefill,omitzero"`    // from then until the first token
	Generation Total `json:"generation,omitzero"` // from then until the last
	TTFT       Total `json:"ttft,omitzero"`       // from its arrival until the first token
}

// A Total is a sum of times, and of how many requests it is.
type Total struct {
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"`
}

// Mean is the mean in milliseconds; 0 without requests.
func (t Total) Mean() float64 { return t.Nanoseconds() / float64(time.Millisecond) }

// Nanoseconds is the mean in nanoseconds; 0 without requests.
func (t Total) Nanoseconds() float64 {
	if t.Requests <= 0 {
		return 0
	}
	return t.Seconds / float64(t.Requests) * float64(time.Second)
}

// each calls f with each total of t and of other.
func (t *Totals) each(other *Totals, f func(a, b *Total)) {
	f(&t.Queue, &other.Queue)
	f(&t.Prefill, &other.Prefill)
	f(&t.Generation, &other.Generation)
	f(&t.TTFT, &other.TTFT)
}

// Plus is the sum of t and other.
func (t Totals) Plus(other Totals) Totals {
	t.each(&other, func(a, b *Total) { a.Seconds, a.Requests = a.Seconds+b.Seconds, a.Requests+b.Requests })
	return t
}

// Since is what was added since before; empty for what went back.
func (t Totals) Since(before Totals) Totals {
	t.each(&before, func(a, b *Total) {
		if a.Seconds, a.Requests = a.Seconds-b.Seconds, a.Requests-b.Requests; a.Requests <= 0 || a.Seconds < 0 {
			*a = Total{}
		}
	})
	return t
}
