// Faults writes docs/measured/faults.md: what servebench reports for each fault that it was tried with, and
// what is lost. It is for Linux and takes two minutes. make faults runs it, or, in this folder:
//
//	go run . -o ../../docs/measured/faults.md
//
// Each row is a Case. It starts a server, or something in front of it, and makes it fail, runs
// servebench as a reader would, and compares the outcome with the claim. The tests do the same and
// compare with the page.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	page := flag.String("o", "../../docs/measured/faults.md", "page to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := write(ctx, *page); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// write tries all cases and writes the page, unless a case fails.
func write(ctx context.Context, page string) error {
	dir, err := os.MkdirTemp("", "faults-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := build(ctx, dir)
	if err != nil {
		return err
	}
	cases, err := allCases(ctx, bin)
	if err != nil {
		return err
	}
	rows, err := tryAll(ctx, bin, cases)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(render(rows)), 0o644)
}
