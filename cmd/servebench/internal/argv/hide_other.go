//go:build !linux

package argv

// Hide does nothing: on this system a process cannot change what others see of its arguments.
func Hide(secrets []string) {}
