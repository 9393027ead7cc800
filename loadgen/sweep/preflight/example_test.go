package preflight_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/loadgen/sweep/preflight"
)

// An experiment that needs a program that is not there.
func Example() {
	flags := &sweep.Flags{
		Words: func(name string, value *yaml.Node) (string, []string, error) {
			return name, []string{"--" + name + "=" + value.Value}, nil
		},
		Load: func([]string, []string) (*sweep.Load, error) { return &sweep.Load{Plan: &loadgen.Plan{}}, nil },
	}
	plan, err := sweep.Parse("", strings.NewReader("needs: {programs: [no-such-program]}"), flags)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, f := range preflight.Run(context.Background(), plan, dir, preflight.This()) {
		if f.State == preflight.Missing {
			fmt.Println(f.Text)
		}
	}
	// Output: no-such-program is not there (not in PATH)
}
