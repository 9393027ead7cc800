//go:build !linux

package host

// MayPrioritize is false: only Linux has chrt.
func MayPrioritize() bool { return false }
