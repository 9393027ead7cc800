package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// The limits of a selftest. Those on disturbance are told before anything is
// measured; those on errors are what a reader of milliseconds cares for.
const (
	othersLimit    = 15.0 // percent of one core
	stolenLimit    = 5.0  // percent of the machine's CPU time
	clockLimit     = time.Millisecond
	itlErrorLimit  = 1000.0  // µs, at p99
	ttftErrorLimit = 10000.0 // µs, at p99
)

// A selftestResult is what a selftest found of a machine, and its JSON.
type selftestResult struct {
	Version string        `json:"version"` // of servebench
	Date    time.Time     `json:"date"`
	Host    string        `json:"host"`
	System  string        `json:"system"` // linux/amd64
	Cores   int           `json:"cores"`  // that this process may use
	Limits  voidLimits    `json:"void_above"`
	Rows    []selftestRow `json:"rows"`
	Left    []string      `json:"left_out"` // loads that could not be put on, with the reason

	TrustedStreams int    `json:"trusted_streams"` // 0 for none
	Verdict        string `json:"verdict"`
}

// voidLimits are the disturbances above which a row is void.
type voidLimits struct {
	Others float64 `json:"others_percent_of_core"`
	Stolen float64 `json:"stolen_percent"`
	Clock  float64 `json:"clock_step_ms"`
}

// A selftestRow is one load and what was measured under it.
type selftestRow struct {
	Name    string  `json:"name"`
	Load    string  `json:"load"`    // steps, at-once or poisson
	Streams int     `json:"streams"` // at once; for poisson in the mean
	StepMS  float64 `json:"step_ms"` // between the tokens of a stream
	Events  int64   `json:"events"`
	PerS    float64 `json:"events_per_s"` // over the whole row

	Stamp spread `json:"stamp_error"` // absolute values
	TTFT  spread `json:"ttft_error"`
	ITL   spread `json:"itl_error"`

	MeanTTFT pair `json:"ttft_mean_ms"`
	P99TTFT  pair `json:"ttft_p99_ms"`
	P99ITL   pair `json:"itl_p99_ms"`

	Kernel    float64  `json:"kernel_stamped_percent"` // of the events
	Shared    float64  `json:"shared_reads_percent"`   // of the events
	Beyond    int      `json:"beyond_bound"`           // requests with a stamp further off than their Record admits
	CPU       float64  `json:"cpu_per_event_us"`       // of this process, 0 where the system does not tell
	ServerCPU float64  `json:"server_cpu_per_event_us"`
	RSS       *float64 `json:"rss_per_stream_kib"` // null where the system does not tell
	Late      float64  `json:"server_late_percent"`
	Failed    int      `json:"failed"` // requests
	Failure   string   `json:"failure,omitempty"`

	Others *float64 `json:"others_percent_of_core"` // null where the system does not tell
	Stolen *float64 `json:"stolen_percent"`
	Clock  float64  `json:"clock_step_ms"`
	Void   string   `json:"void"` // why the row says nothing; empty when it does
}

// A spread is how far off values were, in microseconds.
type spread struct {
	Samples int     `json:"samples"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p99_9_us"`
	Max     float64 `json:"max_us"`
}

// A pair is a statistic as it was measured and as it was.
type pair struct {
	Measured float64 `json:"measured"`
	True     float64 `json:"true"`
}

func newSelftestResult() *selftestResult {
	host, _ := os.Hostname() // empty is a name, too
	return &selftestResult{
		Version: version, Date: time.Now().UTC().Truncate(time.Second), Host: host,
		System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.GOMAXPROCS(0),
		Limits: voidLimits{othersLimit, stolenLimit, float64(clockLimit.Milliseconds())},
		Rows:   []selftestRow{}, Left: []string{},
	}
}

// judge fills in up to which load the machine can be trusted.
func (r *selftestResult) judge() {
	best, wrong := r.trusted()
	r.TrustedStreams = 0
	if best != nil {
		r.TrustedStreams = best.Streams
	}
	switch {
	case best == nil && wrong == nil:
		r.Verdict = "No row in steps is valid, so nothing is known of this machine: try again when it is quieter."
	case best == nil:
		r.Verdict = "The numbers of this machine cannot be trusted: " + wrong.describe() + "."
	case wrong == nil:
		r.Verdict = fmt.Sprintf("The numbers of this machine can be trusted up to %d streams, the most that a valid row had: %s.", best.Streams, best.describe())
	default:
		r.Verdict = fmt.Sprintf("The numbers of this machine can be trusted up to %d streams: %s; %s.", best.Streams, best.describe(), wrong.describe())
	}
}

// trusted is the largest row in steps that is right, as are all smaller ones,
// and the first that is wrong; nil where there is none. Void rows vouch for
// nothing.
func (r *selftestResult) trusted() (best, wrong *selftestRow) {
	for i := range r.Rows {
		row := &r.Rows[i]
		switch {
		case row.Load != "steps" || row.Void != "":
		case row.right():
			best = row
		default:
			return best, row
		}
	}
	return best, nil
}

// right reports whether a row's errors are small enough.
func (row *selftestRow) right() bool {
	return row.Failed == 0 && row.ITL.P99 <= itlErrorLimit && row.TTFT.P99 <= ttftErrorLimit
}

// describe says how right a row is.
func (row *selftestRow) describe() string {
	if row.Failed > 0 {
		return fmt.Sprintf("at %d %s failed: %s", row.Streams, count(row.Failed, "request"), row.Failure)
	}
	return fmt.Sprintf("at %d the error at p99 is %s in ITL and %s in TTFT", row.Streams, milliseconds(row.ITL.P99), milliseconds(row.TTFT.P99))
}

// milliseconds writes microseconds for a reader.
func milliseconds(us float64) string { return fmt.Sprintf("%.3g ms", us/1000) }

// disturbed says why a row is void, if it is. Where the system does not tell of
// others the row counts.
func (row *selftestRow) disturbed() string {
	switch {
	case row.Others != nil && *row.Others > othersLimit:
		return fmt.Sprintf("others took %.1f %% of a core", *row.Others)
	case row.Stolen != nil && *row.Stolen > stolenLimit:
		return fmt.Sprintf("%.1f %% of the CPU time was stolen", *row.Stolen)
	case math.Abs(row.Clock) > float64(clockLimit)/float64(time.Millisecond):
		return fmt.Sprintf("the wall clock was set by %.1f ms", row.Clock)
	}
	return ""
}

// disturb fills in what others took of the machine in a window of time, and what
// that makes of the row. Interrupts are left out: nearly all of them are packets
// of the row's own.
func (row *selftestRow) disturb(machine loadgen.MachineCPU, own, window time.Duration) {
	if machine.Total > 0 && window > 0 {
		others := max(machine.Busy()-machine.Interrupts-own, 0)
		row.Others = new(rounded(100 * float64(others) / float64(window)))
		row.Stolen = new(rounded(100 * machine.StolenShare()))
	}
	row.Void = row.disturbed()
}

// newSpread describes values in microseconds.
func newSpread(us []float64) spread {
	if len(us) == 0 {
		return spread{}
	}
	slices.Sort(us)
	at := func(p float64) float64 { return rounded(metrics.Percentile(us, p)) }
	return spread{len(us), at(50), at(99), at(99.9), at(100)}
}

// rounded leaves three digits behind the point.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }
