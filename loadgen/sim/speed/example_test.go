package speed_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A step of 10 ms becomes longer by 1 ms for each of its 4 requests, which decode.
func Example() {
	profile := &speed.Profile{Step: speed.StepTime{
		Cost: speed.Cost{Base: 10 * time.Millisecond, PerSequence: time.Millisecond},
	}}
	var batch speed.Batch
	for range 4 {
		batch.Decode(100, 1)
	}
	watch := speed.NewStopwatch(profile, nil, 1)
	fmt.Println(watch.Step(batch, time.Now()))
	// Output:
	// 14ms
}
