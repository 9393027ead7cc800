//go:build !linux

package main

import "github.com/servebench/servebench/loadgen"

// hideArguments does nothing: here a process cannot change what others see of its
// arguments.
func hideArguments(loadgen.Secrets) {}
