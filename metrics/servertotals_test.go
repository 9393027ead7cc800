package metrics

import "testing"

func TestTotalsOfAServerThatWentBackAreUnknown(t *testing.T) {
	one := ServerTotals{Queue: TimeTotal{1, 10}, Prefill: TimeTotal{2, 10}, TTFT: TimeTotal{3, 10}}
	two := one.Plus(ServerTotals{Queue: TimeTotal{0.5, 5}, Prefill: TimeTotal{1, 5}})
	if got := two.Since(one); got != (ServerTotals{Queue: TimeTotal{0.5, 5}, Prefill: TimeTotal{1, 5}}) || got.Prefill.Mean() != 200 {
		t.Errorf("%+v, of prefill %v ms", got, got.Prefill.Mean())
	}
	if got := one.Since(two); got != (ServerTotals{}) {
		t.Errorf("a server that went back: %+v", got)
	}
}
