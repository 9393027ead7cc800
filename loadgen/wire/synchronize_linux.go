//go:build !race

package wire

// synchronize is for the race detector.
func synchronize(uintptr) {}
