//go:build !linux

package host

// Listener is unknown on this system.
func Listener(network, address string) (p Process, known bool) { return Process{}, false }
