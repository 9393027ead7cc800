//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: it needs Linux, to keep processes on their CPUs and to see what else runs there")
	os.Exit(1)
}
