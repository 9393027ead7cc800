package steps

import (
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

func TestArrivalAtTheInstantOfPlanningWaits(t *testing.T) {
	now := time.Now()
	seq := &Sequence{Request: Request{Prompt: 7}, unfilled: 7, at: instants{arrived: now}}
	e := &Engine{
		scheduler: scheduler{seqs: 1, budget: 10, decode: 1, kv: kvcache.New(0, false)},
		stats:     newStats(&Settings{}),
		inbox:     &inbox{arriving: []*Sequence{seq}},
	}
	if b := e.Compose(now); b != (speed.Batch{}) {
		t.Errorf("planned %+v with what was only just arriving", b)
	}
	if b := e.Compose(now.Add(1)); b.Prompt != 7 {
		t.Errorf("planned %+v, want the prompt", b)
	}
}
