//go:build !linux

package main

// hideArguments does nothing: here a process cannot change what others see of its
// arguments.
func hideArguments(secrets) {}
