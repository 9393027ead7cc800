package loadgen

import (
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/stream"
)

// Keep says what the run keeps besides its Summaries.
type Keep struct {
	// Records takes the record stream, as requests end; nil keeps none. Make it with spool.Open or
	// spool.To, and close it after Run: Close(spool.Waiting{}).
	Records *spool.File

	// Detail is how much the record stream has.
	Detail Detail

	// Intervals takes the latencies of each second, as an interval log of HdrHistogram; nil keeps
	// none. The caller owns it and closes it after Run.
	Intervals *spool.File

	// Requests keeps each request in memory, for windows and slices of the Summary and for charts.
	// Several targets, and samples, keep them in any case.
	Requests bool

	// Latencies keeps the latencies of each request in Summary.Timings.
	Latencies bool

	// Texts keeps the generated text, in records and in Summary.Outcomes.
	Texts bool
}

// A Detail says how much a record stream has of each request.
type Detail string

const (
	Prompts      Detail = "prompts"  // everything, and what was sent: dataset file sends it again
	Full         Detail = "full"     // everything else; so does the empty Detail
	RequestsOnly Detail = "requests" // everything except the time of each token
)

// A recorder writes a target's record stream and interval log. The zero value writes nothing.
type recorder struct {
	file   *spool.File
	stream *stream.Writer // nil without a stream
	log    *intervals
	before time.Duration // how long writing was blocked before the trial
}

func newRecorder(k *Keep, log *intervals) recorder {
	r := recorder{file: k.Records, log: log}
	if r.file != nil {
		r.stream = stream.NewWriter(r.file)
		r.stream.NoChunks = k.Detail == RequestsOnly
		if !r.file.Regular() {
			r.stream.MaxLine = stream.PipeLine
		}
	}
	return r
}

// begin opens a run's stream.
func (r *recorder) begin(h *metrics.Header) {
	r.before = r.behind()
	r.log.begin(h)
	if r.stream == nil {
		return
	}
	r.file.Try(r.file.Begin)
	r.file.Try(func() error { return r.stream.Begin(h) })
}

// behind is the time for which the stream or the log has blocked writing.
func (r *recorder) behind() time.Duration { return max(r.file.Behind(), r.log.behind()) }

// blocked is the part of that time within the trial.
func (r *recorder) blocked() time.Duration { return r.behind() - r.before }

// write adds a record to the stream.
func (r *recorder) write(rec *record.Record) {
	if r.stream != nil {
		r.file.Try(func() error { return r.stream.Write(rec) })
	}
}

// sample adds a sample to the stream.
func (r *recorder) sample(s *samples.Sample) {
	if r.stream != nil {
		r.file.Try(func() error { return r.stream.Sample(s) })
	}
}

// end ends the stream.
func (r *recorder) end(s *metrics.Summary) {
	if r.stream != nil {
		r.file.Try(func() error { return r.stream.End(s) })
	}
}

// intervals writes the interval log of a run. A nil *intervals writes nothing.
type intervals struct {
	file *spool.File
	log  *stream.IntervalLog
}

func newIntervals(file *spool.File) *intervals {
	if file == nil {
		return nil
	}
	return &intervals{file, stream.NewIntervalLog(file)}
}

// begin starts the log of a run.
func (i *intervals) begin(h *metrics.Header) {
	if i == nil {
		return
	}
	i.file.Try(i.file.Begin)
	i.file.Try(func() error { return i.log.Begin(h) })
}

// write adds a record.
func (i *intervals) write(rec *record.Record) {
	if i != nil {
		i.file.Try(func() error { return i.log.Write(rec) })
	}
}

// behind is the time for which writing has been blocked until now.
func (i *intervals) behind() time.Duration {
	if i == nil {
		return 0
	}
	return i.file.Behind()
}

// flush writes the rest of the last second.
func (i *intervals) flush() {
	if i != nil {
		i.file.Try(i.log.Flush)
	}
}

// An intake does the rest of the work on a record after the record is in its file. A Collector may
// need a tenth of a second to make room for millions more; meanwhile the file still gets its
// records. One goroutine does this work, in order.
type intake struct {
	waiting chan func()
	work    sync.WaitGroup
}

// intakeAhead is how many records may wait.
const intakeAhead = 4096

func newIntake() *intake {
	in := &intake{waiting: make(chan func(), intakeAhead)}
	in.work.Go(func() {
		for do := range in.waiting {
			do()
		}
	})
	return in
}

func (in *intake) do(f func()) { in.waiting <- f }

// close waits until all work is done.
func (in *intake) close() {
	close(in.waiting)
	in.work.Wait()
}
