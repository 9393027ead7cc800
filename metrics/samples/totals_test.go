package samples

import "testing"

func TestTotalsOfAServerThatWentBackAreUnknown(t *testing.T) {
	one := Totals{Queue: Total{1, 10}, Prefill: Total{2, 10}, TTFT: Total{3, 10}}
	two := one.Plus(Totals{Queue: Total{0.5, 5}, Prefill: Total{1, 5}})
	if got := two.Since(one); got != (Totals{Queue: Total{0.5, 5}, Prefill: Total{1, 5}}) || got.Prefill.Mean() != 200 {
		t.Errorf("%+v, of prefill %v ms", got, got.Prefill.Mean())
	}
	if got := one.Since(two); got != (Totals{}) {
		t.Errorf("a server that went back: %+v", got)
	}
}
