// Package arrivals says when requests are due.
//
// A Process draws the gaps between requests from a gamma distribution, at a constant
// rate, along a ramp, or along a Curve over time. Its numbers are those of vLLM's
// client, to the last bit: the same seed gives the same times. A Process looks at no
// clock and at no server. It yields offsets from the start of a run, which the engine
// keeps to.
package arrivals
