//go:build !unix

package sweep

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// terminate kills, as there is no signal that asks.
func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill ends cmd's process; there are no groups.
func kill(cmd *exec.Cmd) { cmd.Process.Kill() }

func gone(*exec.Cmd) bool { return true }

func share(*exec.Cmd, *os.File) {}

func keepShared() {}
