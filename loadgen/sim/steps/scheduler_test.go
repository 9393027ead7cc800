package steps

import (
	"testing"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

func TestBatchCountsWhatTokensLookBackOn(t *testing.T) {
	s := scheduler{seqs: 4, budget: 100, decode: 1, kv: kvcache.New(0, false), running: []*Sequence{
		{Request: Request{Prompt: 9000}, out: 7},
		{Request: Request{Prompt: 300}, unfilled: 200},
	}}
	b, _ := s.compose()
	want := speed.Batch{Decoding: 1, Prompt: 99, Attended: 99 * (100 + 49.5), Context: 9007, Far: 1}
	if b != want {
		t.Errorf("%+v, want %+v", b, want)
	}
}
