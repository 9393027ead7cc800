//go:build !race

package wire

// synchronize does nothing without the race detector.
func synchronize(uintptr) {}
