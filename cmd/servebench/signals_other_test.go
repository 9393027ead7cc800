//go:build !unix

package main

import "syscall"

const (
	stopSignal     = syscall.SIGTERM
	continueSignal = syscall.SIGTERM
)

func limitFiles(string) {}
