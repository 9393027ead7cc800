package selftest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// Ten streams for a tenth of a second, on a server that this program is itself when
// it is started with the variable that TestMain looks for. A program other than a
// test gives the file of servebench to selftest.Program.
func Example() {
	self := func(s *metronome.Server) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf(`SELFTEST_SERVER={"ITL":%d,"Aligned":%t}`, s.ITL, s.Aligned))
		return cmd
	}
	result := selftest.NewResult("1.2.3")
	err := result.Measure(context.Background(), selftest.InSteps([]int{10}, 100*time.Millisecond), self, func(l *selftest.Load) {
		fmt.Println("measuring", l.Name)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range result.Rows {
		fmt.Println(row.Streams, "streams,", row.Events, "events,", row.Failed, "failed")
	}
	// Output:
	// measuring 10 per 20 ms
	// 10 streams, 60 events, 0 failed
}
