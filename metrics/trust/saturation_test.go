package trust

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/evidence"
)

func TestASaturatedClientSaysAtWhatRate(t *testing.T) {
	busy := evidence.Evidence{CPU: evidence.CPU{Cores: 1, Watched: 10 * time.Second, Used: 9800 * msec, Busiest: 0.99}, Stamps: evidence.Stamps{Kernel: 512_345}, Pauses: evidence.Pauses{LongestGC: msec}}
	for name, c := range map[string]struct {
		set  func(s *metrics.Summary)
		want string
	}{
		"no selftest": {func(*metrics.Summary) {},
			"use more cores, less load, or 2 machines with --shard and --run-id: 52000 chunks/s fill one core, by the CPU time of this run, and this run had 51000 on 1 core"},
		"a selftest": {func(s *metrics.Summary) { s.Evidence.Selftest = &evidence.Selftest{Streams: 4096, PerCore: 64_499} },
			"use more cores, less load, or 2 machines with --shard and --run-id: 64000 chunks/s fill one core, by the selftest of this machine, and this run had 51000 on 1 core"},
		"much more than it can take": {func(s *metrics.Summary) {
			s.Evidence.CPU.Cores, s.Evidence.CPU.Used, s.Evidence.Stamps.Kernel = 2, 19*time.Second, 4_000_000
			s.Evidence.Selftest = &evidence.Selftest{Streams: 4096, PerCore: 76_923}
		}, "use more cores, less load, or 4 machines with --shard and --run-id: 77000 chunks/s fill one core, by the selftest of this machine, and this run had 400000 on 2 cores"},
		"a shard":   {func(s *metrics.Summary) { s.Source.Shards = &metrics.Shards{Of: 2, Sound: 2} }, roomier},
		"no chunks": {func(s *metrics.Summary) { s.Evidence.Stamps.Kernel = 0 }, roomier},
	} {
		s := clean()
		seen := busy
		s.Evidence = &seen
		c.set(s)
		Judge(s)
		failed := s.Trust.Failed()
		if len(failed) != 2 || failed[0].Name != "busiest second" || failed[0].Remedy != c.want || failed[1].Remedy != c.want {
			t.Errorf("%s: %+v, want %q", name, failed, c.want)
		}
	}
}

// What comes of cores that are used up has the same remedy.
func TestLateReadsOfASaturatedClientHaveItsRemedy(t *testing.T) {
	s := clean()
	s.Evidence.CPU.Busiest, s.Evidence.Stamps.SharedReads, s.Client.Age = 0.99, 400, alike(12, 4000)
	Judge(s)
	failed := s.Trust.Failed()
	if len(failed) != 3 {
		t.Fatalf("%+v", failed)
	}
	for _, c := range failed {
		if c.Remedy != (&judge{run: s, seen: s.Evidence}).spread() {
			t.Errorf("%s: %q", c.Name, c.Remedy)
		}
	}
}

func TestAboutHasTwoDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7.26: "7", 42: "42", 999: "1000", 51234: "51000", 1_250_001: "1300000"} {
		if got := about(v); got != want {
			t.Errorf("%v is about %s, want %s", v, got, want)
		}
	}
}
