package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A quota of half a core stopped the group for 3 s before the watch, and for 250 ms of it.
func TestAQuotaTellsForHowLongItStopped(t *testing.T) {
	for name, c := range map[string]struct {
		cgroup, mount string
		quota         map[string]string
		before, after string
		cores         float64
		throttled     time.Duration
	}{
		"v2": {"0::/\n", mountV2, map[string]string{"cpu.max": "50000 100000\n"},
			"throttled_usec 3000000\n", "nr_throttled 9\nthrottled_usec 3250000\n", 0.5, 250 * time.Millisecond},
		"v1": {"3:memory,cpu:/\n", mountV1, map[string]string{"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n"},
			"throttled_time 3000000000\n", "throttled_time 3250000000\n", 0.5, 250 * time.Millisecond},
		"a wider group around it": {"0::/box\n", mountV2, map[string]string{"cpu.max": "150000 100000\n", "box/cpu.max": "50000 100000\n", "box/cpu.stat": "throttled_usec 0\n"},
			"throttled_usec 0\n", "throttled_usec 9000000\n", 0.5, 0},
		"no quota": {"0::/\n", mountV2, map[string]string{"cpu.max": "max 100000\n"}, "throttled_usec 3000000\n", "throttled_usec 3250000\n", 0, 0},
	} {
		c.quota["cpu.stat"] = c.before
		proc, mount := machine(t, c.cgroup, fmt.Sprintf(c.mount, "/"), c.quota)
		q := quotaIn(proc)
		if err := os.WriteFile(filepath.Join(mount, "cpu.stat"), []byte(c.after), 0o644); err != nil {
			t.Fatal(err)
		}
		if cores, throttled := q.used(); cores != c.cores || throttled != c.throttled {
			t.Errorf("%s: %v cores, stopped for %v; want %v and %v", name, cores, throttled, c.cores, c.throttled)
		}
	}
}

// The CPU time of a process is utime and stime of its stat, whatever its name holds.
func TestCPUTimeOfAServer(t *testing.T) {
	proc := t.TempDir()
	if err := os.MkdirAll(filepath.Join(proc, "9"), 0o755); err != nil {
		t.Fatal(err)
	}
	stat := "9 (a) b 1 2) S 1 9 9 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 1 0 100 1 1\n"
	if err := os.WriteFile(filepath.Join(proc, "9", "stat"), []byte(stat), 0o644); err != nil {
		t.Fatal(err)
	}
	if used := procFS(proc).used(9); used != 3*time.Second {
		t.Errorf("%v, want 3 s", used)
	}
	if used := procFS(proc).used(10); used != 0 {
		t.Errorf("a process that is not there used %v", used)
	}
}
