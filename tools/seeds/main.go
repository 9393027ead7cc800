// Seeds writes docs/measured/profiles.md: the blocks of the seed documents, with the results of the simulator's
// profiles. It takes a few minutes. make seeds runs it in the repository's root.
//
// The replays are a test, since only tests have fake time.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if err := write(filepath.Join("docs", "measured", "profiles.md")); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

func write(name string) error {
	page, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	test := exec.Command("go", "test", "./loadgen/sim", "-run", "^TestWriteSeedsTable$", "-count", "1", "-timeout", "30m")
	test.Env = append(os.Environ(), "SEEDS_TABLE="+page)
	test.Stdout, test.Stderr = os.Stderr, os.Stderr
	return test.Run()
}
