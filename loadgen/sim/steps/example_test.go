package steps_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// An engine driven from outside answers a request of 100 prompt tokens with 3 tokens. The first step
// reads the prompt.
func Example() {
	profile := &speed.Profile{Step: speed.StepTime{
		Cost: speed.Cost{Base: 10 * time.Millisecond, PerPromptToken: 100 * time.Microsecond},
	}}
	engine := steps.New(steps.Settings{
		Profile: profile, NumSeqs: 8, NumTokens: 2048, ModelLen: 4096, KV: kvcache.New(0, false),
	})
	start := time.Unix(0, 0)
	seq := steps.NewSequence(steps.Request{Prompt: 100, Want: 3, Finish: steps.Length})
	engine.Submit(seq, start)
	for now := start; !engine.Idle(); {
		batch := engine.Compose(now.Add(speed.Gather))
		now = now.Add(engine.Took(batch, now))
		engine.Deliver(now)
		fmt.Println(seq.Out(), now.Sub(start))
	}
	// Output:
	// 1 20ms
	// 2 30ms
	// 3 40ms
}
