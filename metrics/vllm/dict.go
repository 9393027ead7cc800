package vllm

import (
	"math"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A Dict is a JSON object under construction.
type Dict struct{ pyjson.Object }

// Set changes the value of a key, and leaves its place if it has one.
func (d *Dict) Set(key string, value any) { d.Object = d.With(key, value) }

// setKnown sets a number unless it is not known.
func (d *Dict) setKnown(key string, value float64) {
	if !math.IsNaN(value) {
		d.Set(key, value)
	}
}

// setCount sets a count unless it is not known.
func (d *Dict) setCount(key string, n int) {
	if n >= 0 {
		d.Set(key, n)
	}
}
