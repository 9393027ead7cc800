// Faults writes docs/faults.md: what servebench says of each fault that it was
// tried against, and what is lost by it. It is for Linux, takes two minutes, and
// is run by make faults, or here:
//
//	go run . -o ../../docs/faults.md
//
// Each row is a Case: a server or what stands before it is started and made to
// fail, servebench is run against it as a reader would, and what came out is
// held against what is claimed. The tests do the same and compare with the page.
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
	page := flag.String("o", "../../docs/faults.md", "page to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := write(ctx, *page); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// write tries all cases and writes the page, unless one went otherwise than is
// claimed.
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
