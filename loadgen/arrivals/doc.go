// Package arrivals says when requests are due.
//
// A Process draws the gaps between requests from a gamma distribution, at a constant rate, along a
// ramp, or along a Curve over time. It computes the numbers of vLLM's client, to the last bit: the
// same seed gives the same times. A Process sees no clock and no server. It yields offsets from the
// start of a run; the engine keeps to them.
package arrivals
