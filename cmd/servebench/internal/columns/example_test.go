package columns_test

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/columns"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/report/plot"
)

func Example() {
	cmd := &cobra.Command{}
	f := argv.Of(cmd)
	var numbers columns.Flag
	numbers.Define(f, "numbers of the table")
	if err := f.Set("numbers", "failed,requests_per_s,failed"); err != nil {
		panic(err)
	}
	h := &metrics.Header{Config: metrics.Config{Label: "night"}}
	s := aspect.Collector(h).Summary(2)
	if err := numbers.Table(os.Stdout, []plot.Run{{Summary: s}}); err != nil {
		panic(err)
	}
	fmt.Println(f.Set("numbers", "faild"))
	// Output:
	// | failed | req/s | verdict |
	// | -----: | ----: | ------- |
	// |      0 |  0.00 |         |
	// invalid argument "faild" for "--numbers" flag: no number is called 'faild': did you mean failed? --numbers list shows all
}
