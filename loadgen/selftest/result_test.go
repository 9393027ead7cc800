package selftest

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/host"
)

func TestAMachineIsTrustedUpToItsFirstWrongRow(t *testing.T) {
	type step struct {
		streams   int
		itl, ttft float64 // µs at p99
		void      string
		failed    int
	}
	for _, row := range []struct {
		name string
		rows []step
		want int
		says string
	}{
		{"no rows", nil, 0, "accuracy is unknown"},
		{"all void", []step{{64, 10, 10, "x", 0}}, 0, "accuracy is unknown"},
		{"all right", []step{{64, 10, 10, "", 0}, {256, 10, 10, "", 0}}, 256, "the largest valid row"},
		{"just right", []step{{64, 1000, 10000, "", 0}}, 64, "up to 64 streams, the largest valid row: at 64 the error at p99 is 1 ms in ITL and 10 ms in TTFT."},
		{"ITL just wrong", []step{{64, 10, 10, "", 0}, {256, 1000.1, 10, "", 0}}, 64, "up to 64 streams: at 64 "},
		{"TTFT just wrong", []step{{64, 10, 10, "", 0}, {256, 10, 10000.1, "", 0}}, 64, "; at 256 the error at p99 is 0.01 ms in ITL and 10 ms in TTFT."},
		{"wrong at first", []step{{64, 2000, 10, "", 0}, {256, 10, 10, "", 0}}, 0, "cannot be trusted: at 64 the error at p99 is 2 ms"},
		{"wrong in between", []step{{64, 1, 1, "", 0}, {256, 2000, 1, "", 0}, {1024, 1, 1, "", 0}}, 64, "at 256 "},
		{"void in between", []step{{64, 1, 1, "", 0}, {256, 9999, 1, "x", 0}, {1024, 1, 1, "", 0}}, 1024, "up to 1024"},
		{"void at the end", []step{{64, 1, 1, "", 0}, {256, 1, 1, "x", 0}}, 64, "up to 64"},
		{"failures", []step{{64, 1, 1, "", 0}, {256, 1, 1, "", 3}}, 64, "; at 256 3 requests failed: boom."},
	} {
		r := NewResult("1.2.3")
		for _, s := range row.rows {
			r.Rows = append(r.Rows, Row{
				Load: "steps", Streams: s.streams, ITL: Spread{P99: s.itl}, TTFT: Spread{P99: s.ttft},
				Failed: s.failed, Failure: "boom", Disturbance: Disturbance{Void: s.void},
			})
		}
		r.Rows = append(r.Rows, Row{Load: "at-once", Streams: 1024, ITL: Spread{P99: 1e6}})
		if r.judge(); r.TrustedStreams != row.want || !strings.Contains(r.Verdict, row.says) {
			t.Errorf("%s: trusted up to %d, want %d: %q, want it to say %q", row.name, r.TrustedStreams, row.want, r.Verdict, row.says)
		}
	}
}

func TestARowIsVoidJustAboveItsLimits(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		name    string
		machine host.MachineCPU // in a window of 10 s on 2 cores
		own     time.Duration
		clock   float64
		void    string
	}{
		{"quiet", host.MachineCPU{Total: 20000 * ms, Idle: 15000 * ms}, 5000 * ms, 0, ""},
		{"others at the limit", host.MachineCPU{Total: 20000 * ms, Idle: 13500 * ms}, 5000 * ms, 0, ""},
		{"others above it", host.MachineCPU{Total: 20000 * ms, Idle: 13490 * ms}, 5000 * ms, 0, "others took 15.1 % of a core"},
		{"interrupts", host.MachineCPU{Total: 20000 * ms, Idle: 13000 * ms, Interrupts: 2000 * ms}, 5000 * ms, 0, ""},
		{"stolen at the limit", host.MachineCPU{Total: 20000 * ms, Idle: 14000 * ms, Stolen: 1000 * ms}, 5000 * ms, 0, ""},
		{"stolen above it", host.MachineCPU{Total: 20000 * ms, Idle: 13980 * ms, Stolen: 1020 * ms}, 5000 * ms, 0, "5.1 % of the CPU time was stolen"},
		{"clock at the limit", host.MachineCPU{}, 0, -1, ""},
		{"clock above it", host.MachineCPU{}, 0, -1.001, "the wall clock was set by -1.0 ms"},
	} {
		got := Disturbance{Clock: row.clock}
		got.judge(row.machine, row.own, 10*time.Second)
		if got.Void != row.void {
			t.Errorf("%s: void: %q, want %q", row.name, got.Void, row.void)
		}
		if unknown := row.machine.Total == 0; (got.Others == nil) != unknown || (got.Stolen == nil) != unknown {
			t.Errorf("%s: others %v, stolen %v", row.name, got.Others, got.Stolen)
		}
	}
}
