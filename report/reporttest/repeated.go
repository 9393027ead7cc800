package reporttest

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/verdict"
)

// A Run is one of several runs, with what distinguishes it from the others.
type Run struct {
	Labels  []metrics.KV
	Summary *metrics.Summary
}

// Repeated are the runs of a sweep with two repeats on two arms, whose targets a and b were loaded
// alone and together. Together TTFT is twice as long on the first arm, and three times on the other.
// One run is SUSPECT.
func Repeated() (all []Run) {
	for arm, slower := range []time.Duration{2, 3} {
		for repeat := range 2 {
			for _, target := range []string{"a", "b"} {
				for _, solo := range []bool{true, false} {
					ttft := time.Duration(10+repeat) * ms
					if !solo {
						ttft *= slower
					}
					h := &metrics.Header{Run: fmt.Sprint(arm, repeat, target, solo), Target: target,
						Group: fmt.Sprint(arm, repeat), Solo: solo}
					c := aspect.Collector(h)
					c.AddOutcome(metrics.Outcome{Success: true, Out: 2, TTFT: ttft.Seconds(), Latency: 0.1 + ttft.Seconds()})
					s := c.Summary(1)
					s.Trust = &verdict.Trust{Verdict: verdict.Valid}
					if arm == 1 && repeat == 1 && target == "b" {
						s.Trust.Verdict = verdict.Suspect
					}
					all = append(all, Run{Summary: s, Labels: []metrics.KV{{Key: "arm", Value: fmt.Sprint("arm-", arm)},
						{Key: "repeat", Value: fmt.Sprint(repeat + 1)}, {Key: "target", Value: h.TargetName()}}})
				}
			}
		}
	}
	return all
}
