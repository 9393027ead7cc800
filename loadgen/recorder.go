package loadgen

import (
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// Keep says what is kept of a run, beside its Summaries.
type Keep struct {
	// Records takes the record stream, as requests end; nil keeps none. spool.Open or
	// spool.To makes it, and the caller closes it after Run: Close(spool.Waiting{}).
	Records *spool.File

	// Detail is what the record stream has.
	Detail Detail

	// Intervals takes the latencies of each second, as an interval log of HdrHistogram's;
	// nil keeps none. It stays the caller's, who closes it after Run.
	Intervals *spool.File

	// Requests keeps each request in memory, for windows and slices of the Summary and for
	// charts. Several targets and samples keep them anyway.
	Requests bool

	// Latencies keeps those of each request in Summary.Lastings.
	Latencies bool

	// Texts keeps what was generated, in records and in Summary.Outcomes.
	Texts bool
}

// A Detail is how much a record stream has of each request.
type Detail string

const (
	Full         Detail = "full"     // all, which the empty Detail is, too
	RequestsOnly Detail = "requests" // all but when each token arrived
	Compact      Detail = "compact"  // nothing: the stream has histograms alone
)

// A recorder writes the record stream of a target, and the interval log. The zero value
// writes nothing.
type recorder struct {
	file   *spool.File
	stream *stream.Writer // nil without a stream
	keeps  bool           // the stream takes single requests and samples
	log    *intervals
	before time.Duration // for which writing was blocked before the trial
}

func newRecorder(k *Keep, log *intervals) recorder {
	r := recorder{file: k.Records, log: log, keeps: k.Records != nil && k.Detail != Compact}
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

// behind is for how long writing of the stream, or of the log, has been blocked.
func (r *recorder) behind() time.Duration { return max(r.file.Behind(), r.log.behind()) }

// blocked is for how long it was in the trial.
func (r *recorder) blocked() time.Duration { return r.behind() - r.before }

// write adds a record to the stream.
func (r *recorder) write(rec *metrics.Record) {
	if r.keeps {
		r.file.Try(func() error { return r.stream.Write(rec) })
	}
}

// sample adds a sample to the stream, as write does a record.
func (r *recorder) sample(s *metrics.Sample) {
	if r.keeps {
		r.file.Try(func() error { return r.stream.Sample(s) })
	}
}

// end ends the stream.
func (r *recorder) end(s *metrics.Summary) {
	if r.stream != nil {
		r.file.Try(func() error { return r.stream.End(s) })
	}
}

// intervals are the interval log of a run. Nil keeps nothing.
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

// begin takes up a run.
func (i *intervals) begin(h *metrics.Header) {
	if i == nil {
		return
	}
	i.file.Try(i.file.Begin)
	i.file.Try(func() error { return i.log.Begin(h) })
}

// write adds a record.
func (i *intervals) write(rec *metrics.Record) {
	if i != nil {
		i.file.Try(func() error { return i.log.Write(rec) })
	}
}

// behind is for how long writing has been blocked until now.
func (i *intervals) behind() time.Duration {
	if i == nil {
		return 0
	}
	return i.file.Behind()
}

// flush writes what is left of the last second.
func (i *intervals) flush() {
	if i != nil {
		i.file.Try(i.log.Flush)
	}
}

// An intake does what is left to do with a record once that is in its file: another
// one that has ended meanwhile is written all the same while a Collector makes room
// for millions more, which can take it a tenth of a second. What is given to it is
// done in order, by one goroutine.
type intake struct {
	waiting chan func()
	work    sync.WaitGroup
}

// intakeAhead is how much may wait.
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

// close waits until all is done.
func (in *intake) close() {
	close(in.waiting)
	in.work.Wait()
}
