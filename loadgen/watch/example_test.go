package watch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics/samples"
)

func Example() {
	taken := make(chan bool)
	var set watch.Set
	set.Add("Watch.Server", func(ctx context.Context, _ time.Time, take func(*samples.Sample)) {
		take(&samples.Sample{Error: "connection refused"})
		close(taken)
		<-ctx.Done()
	})
	set.Start(time.Now())
	<-taken
	watch.Stop(&set)
	fmt.Println(len(set.Drain()), set.Troubles())
	// Output: 1 [Watch.Server: 1 of 1 samples failed: connection refused]
}
