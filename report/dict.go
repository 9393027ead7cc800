package report

import (
	"math"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A dict is a JSON object under construction.
type dict struct{ pyjson.Object }

// set changes the value of a key, and leaves its place if it has one.
func (d *dict) set(key string, value any) { d.Object = d.With(key, value) }

// setKnown sets a number unless it is not known.
func (d *dict) setKnown(key string, value float64) {
	if !math.IsNaN(value) {
		d.set(key, value)
	}
}

// setCount sets a count unless it is not known.
func (d *dict) setCount(key string, n int) {
	if n >= 0 {
		d.set(key, n)
	}
}
