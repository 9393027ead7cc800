package numbers

import "testing"

func TestOnlyNumbersOfAdaptersHaveTheirNames(t *testing.T) {
	for name, want := range map[string]bool{
		"sql/median_ttft": true, "org/sql/p99.9_e2el": true, "sql/goodput": true, "sql/mean_itl": false, "sql/p99_ttfo": false, "sql/session_throughput": false,
		"sql/median_job": false, "sql/total_throughput": false, "sql/": false, "/median_ttft": false, "sql/fast": false,
	} {
		if m, ok := Find(name); ok != want || ok && m.Name != name {
			t.Errorf("%s: %q, %v", name, m.Name, ok)
		}
	}
}
