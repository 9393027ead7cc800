//go:build !linux

package argv

// Hide does nothing: here a process cannot change what others see of its arguments.
func Hide(secrets []string) {}
