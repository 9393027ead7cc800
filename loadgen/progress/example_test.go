package progress_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/progress"
)

// Show a load that ends at once: what is left is its last line, without its times.
func Example() {
	var out bytes.Buffer
	over := progress.Show(progress.NewTalk(&out), progress.Load{Start: time.Now(), Targets: []progress.Target{{Total: 100, Live: new(engine.Live)}}})
	over()
	line, _, _ := bytes.Cut(out.Bytes(), []byte("["))
	fmt.Printf("%s\n", line)
	// Output: 0%|          | 0/100
}
