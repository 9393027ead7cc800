//go:build !linux

package wire

// Here it cannot be told whether there are enough.

func checkFiles(int) error { return nil }

func checkPorts(int) error { return nil }
