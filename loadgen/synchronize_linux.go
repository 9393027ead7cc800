//go:build !race

package loadgen

// synchronize is for the race detector.
func synchronize(uintptr) {}
