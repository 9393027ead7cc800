package spool_test

import (
	"fmt"
	"log"
	"os"

	"github.com/servebench/servebench/loadgen/spool"
)

// Write lines that nobody waits for, and wait for all of them at the end.
func Example() {
	f := spool.To(os.Stdout)
	for i := range 3 {
		f.Try(func() error {
			_, err := fmt.Fprintf(f, "line %d\n", i)
			return err
		})
	}
	if err := f.Close(spool.Waiting{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// line 0
	// line 1
	// line 2
}
