package steps

import "testing"

func TestAttemptsHaveTheNumberOfTheirRequest(t *testing.T) {
	for id, want := range map[string]struct {
		name   string
		number int64
	}{
		"bench-7": {"bench-", 7}, "bench-7-a2": {"bench-", 7}, "bench-7-a13": {"bench-", 7}, "bench-7-t1": {"bench-7-t", 1},
		"bench-7-t1-a2": {"bench-7-t", 1}, "run-a2": {"run-a", 2}, "bench-7-a": {"bench-7-a", -1}, "-a2": {"-a", 2}, "": {"", -1}, "x": {"x", -1},
	} {
		if name, number := splitID(id); name != want.name || number != want.number {
			t.Errorf("%q: %q and %d, want %q and %d", id, name, number, want.name, want.number)
		}
	}
}
