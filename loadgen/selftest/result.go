// Package selftest measures the accuracy of this machine's measurements.
//
// Think of it as a load test with a known answer. A Load starts a server in a separate process. The
// server writes into each event when it wrote the event and when the request arrived, by the
// kernel's stamp. Package loadgen sends the load like any other. Comparing the measured times with
// the true ones makes a Row. A Result holds the Rows of a machine and says up to how many streams
// its numbers can be trusted. Stored returns it to later runs.
//
// Client and server share the machine's cores. A Watch looks for what else happens there. A
// disturbed Row is void: it proves nothing.
package selftest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics/evidence"
)

// The limits of a selftest. WriteHead prints the limits on disturbance before anything is measured.
// The limits on errors fit a reader who looks at milliseconds.
const (
	othersLimit    = 15.0    // percent of one core
	stolenLimit    = 5.0     // percent of the machine's CPU time
	clockLimit     = 1.0     // ms
	itlErrorLimit  = 1000.0  // µs, at p99
	ttftErrorLimit = 10000.0 // µs, at p99
)

// A Result is what a selftest found out about a machine. Measure fills it in.
type Result struct {
	Version string    `json:"version"` // of servebench
	Date    time.Time `json:"date"`
	Host    string    `json:"host"`
	System  string    `json:"system"` // linux/amd64
	Cores   int       `json:"cores"`  // that this process may use
	Limits  Limits    `json:"void_above"`
	Rows    []Row     `json:"rows"`
	Left    []string  `json:"left_out"` // loads that this machine cannot hold, with the reason

	TrustedStreams int    `json:"trusted_streams"` // 0 if not trusted
	Verdict        string `json:"verdict"`         // a sentence
}

// Limits are the disturbances above which a Row is void, in the units of the Row's
// fields.
type Limits struct {
	Others float64 `json:"others_percent_of_core"`
	Stolen float64 `json:"stolen_percent"`
	Clock  float64 `json:"clock_step_ms"`
}

// NewResult makes a Result of this machine and this moment, without Rows. The version
// is servebench's.
func NewResult(version string) *Result {
	name, _ := os.Hostname() // an empty name is fine
	return &Result{
		Version: version, Date: time.Now().UTC().Truncate(time.Second), Host: name,
		System: runtime.GOOS + "/" + runtime.GOARCH, Cores: host.Cores(),
		Limits: Limits{othersLimit, stolenLimit, clockLimit},
		Rows:   []Row{}, Left: []string{},
	}
}

// Measure measures the loads one after the other, calls starting before each, and appends their
// Rows. Loads in steps must come in ascending order of streams. It leaves out a load that this
// machine cannot hold. At the end it fills in TrustedStreams and Verdict, even after an error: then
// they are about the Rows so far.
func (r *Result) Measure(ctx context.Context, loads []*Load, server Command, starting func(*Load)) error {
	defer r.judge()
	for _, l := range loads {
		if err := l.Check(); err != nil {
			r.Left = append(r.Left, fmt.Sprintf("%s: %v", l.Name, err))
			continue
		}
		starting(l)
		row, err := l.Measure(ctx, server)
		if err != nil {
			return fmt.Errorf("measuring %s: %w", l.Name, err)
		}
		r.Rows = append(r.Rows, *row)
	}
	if len(r.Rows) == 0 {
		return fmt.Errorf("nothing can be measured: %s", r.Left[0])
	}
	return nil
}

// judge fills in the load up to which the machine can be trusted. That is the largest row in steps
// that is right and has only right rows below it: no failures, and at p99 an error of at most 1 ms
// in ITL and 10 ms in TTFT. Void rows do not count.
func (r *Result) judge() {
	best, wrong := r.trusted()
	r.TrustedStreams = 0
	if best != nil {
		r.TrustedStreams = best.Streams
	}
	switch {
	case best == nil && wrong == nil:
		r.Verdict = "No row in steps is valid, so this machine's accuracy is unknown: try again when it is quieter."
	case best == nil:
		r.Verdict = "The numbers of this machine cannot be trusted: " + wrong.describe() + "."
	case wrong == nil:
		r.Verdict = fmt.Sprintf("The numbers of this machine can be trusted up to %d streams, the largest valid row: %s.",
			best.Streams, best.describe())
	default:
		r.Verdict = fmt.Sprintf("The numbers of this machine can be trusted up to %d streams: %s; %s.", best.Streams,
			best.describe(), wrong.describe())
	}
}

// trusted returns the largest row in steps up to which all are right, and the first wrong row; nil
// if there is none.
func (r *Result) trusted() (best, wrong *Row) {
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

// summary is what a later run may rely on.
func (r *Result) summary() *evidence.Selftest {
	v := new(evidence.Selftest)
	best, wrong := r.trusted()
	if best != nil {
		v.Streams, v.ErrorP99 = best.Streams, time.Duration(best.Stamp.P99*float64(time.Microsecond))
	}
	if wrong != nil {
		v.WrongFrom = wrong.Streams
	}
	if largest := cmp.Or(best, wrong); largest != nil && largest.CPU > 0 {
		v.PerCore = math.Round(float64(time.Second/time.Microsecond) / largest.CPU)
	}
	v.Kernel = best != nil && best.Kernel > 0 || wrong != nil && wrong.Kernel > 0
	return v
}
