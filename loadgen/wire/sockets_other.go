//go:build !linux

package wire

// This system does not tell whether there are enough.

func checkFiles(int) error { return nil }

func checkPorts(int) error { return nil }
