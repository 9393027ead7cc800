//go:build !linux

package sweep

import "os/exec"

func adopt() {}

func dieWithParent(*exec.Cmd) {}

func reap(*exec.Cmd) {}
