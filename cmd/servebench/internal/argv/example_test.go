package argv_test

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
)

// A command of cobra defines its flags as pflag has them, and reads its command line as
// argparse does: --req is short for --request-rate.
func Example() {
	var (
		rate    float64
		goodput []string
		format  string
	)
	cmd := &cobra.Command{
		Use:  "load",
		Long: "Load a server.",
		RunE: func(*cobra.Command, []string) error {
			fmt.Println(rate, goodput, format)
			return nil
		},
	}
	f := argv.Of(cmd)
	f.Float64Var(&rate, "request-rate", 1, "`RATE` requests a second")
	f.ListVar(&goodput, "goodput", argv.Some, "`KEY:MS` limits of a good request")
	f.StringVar(&format, "format", "text", "`FORMAT` of the result")
	f.Choices("format", "text", "json")

	cmd.SetOut(os.Stdout)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	for _, line := range [][]string{
		{"--req", "1_000", "--goodput", "ttft:100", "tpot:20", "--format=json"},
		{"--request_rate", "many"},
		{"--format", "yaml"},
		{"--formt", "text"},
		{"--help"},
	} {
		cmd.SetArgs(line)
		if err := cmd.Execute(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 1000 [ttft:100 tpot:20] json
	// argument --request-rate: invalid float value: 'many'
	// argument --format: invalid choice: 'yaml' (choose from 'text', 'json')
	// unknown flag --formt: did you mean --format?
	// Load a server.
	//
	// Usage:
	//   load [flags]
	//
	// Flags
	//   --request-rate RATE         requests a second (default 1)
	//   --goodput KEY:MS …          limits of a good request
	//   --format FORMAT             of the result (text, json) (default text)
	//   -h, --help                  show this help. --help=TOPIC is about a flag, a
	//                               group or a word, --help=all about all flags
}
