//go:build !linux

package host

// memoryBounds are unknown on this system.
func memoryBounds() []memoryBound { return nil }

// quota is unknown on this system.
func quota() (cores float64, known bool) { return 0, false }
