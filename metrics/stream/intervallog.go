package stream

import (
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// interval is the length of an interval of an IntervalLog.
const interval = time.Second

// An IntervalLog writes the latencies of runs in HdrHistogram's log format, version 1.3, in
// nanoseconds. For each second of a run's clock and each name of Latencies it writes the values of
// the requests that ended then. The tag is TARGET.NAME, or TARGET.alone.NAME if the target was
// loaded alone, or NAME without a target. A latency without values in a second has no line. It
// needs 205 KB for each tag. Only one goroutine may use it.
type IntervalLog struct {
	out   *hdrhistogram.HistogramLogWriter
	base  time.Time // times in the log count from it; zero before the first run
	epoch time.Time // of the current runs, which have one clock
	runs  map[string]*loggedRun
	order []*loggedRun
	from  time.Duration // where the interval begins
	last  time.Duration // end of the last request in it
}

// A loggedRun is what a run did in the current interval.
type loggedRun struct {
	header     *metrics.Header
	histograms map[string]*hdrhistogram.Histogram // by name
}

// NewIntervalLog makes a log that writes to w, a line at a time.
func NewIntervalLog(w io.Writer) *IntervalLog {
	return &IntervalLog{out: hdrhistogram.NewHistogramLogWriter(w)}
}

// Begin starts a run. It ends the earlier ones, unless their clock is the same.
func (l *IntervalLog) Begin(h *metrics.Header) error {
	if l.base.IsZero() {
		if err := l.head(h.Epoch.Truncate(time.Second)); err != nil {
			return err
		}
	}
	if !h.Epoch.Equal(l.epoch) {
		if err := l.Flush(); err != nil {
			return err
		}
		l.epoch, l.runs, l.order, l.from, l.last = h.Epoch, map[string]*loggedRun{}, nil, 0, 0
	}
	r := &loggedRun{h, map[string]*hdrhistogram.Histogram{}}
	for _, name := range record.LatencyNames {
		r.histograms[name] = metrics.NewHistogram()
	}
	l.runs[h.Run] = r
	l.order = append(l.order, r)
	return nil
}

// tag is the tag of a latency of the run in an IntervalLog.
func tag(h *metrics.Header, name string) string {
	switch {
	case h.Target == "":
		return name
	case h.Part("") != "":
		return h.Target + "." + h.Part(".") + "." + name
	}
	return h.Target + "." + name
}

// head writes the beginning of a log.
func (l *IntervalLog) head(base time.Time) error {
	l.base = base
	l.out.SetBaseTime(base.UnixMilli())
	for _, line := range []func() error{
		l.out.OutputLogFormatVersion,
		func() error { return l.out.OutputComment(" servebench: latencies in nanoseconds, Interval_Max in ms") },
		func() error { return l.out.OutputStartTime(base.UnixMilli()) },
		func() error { return l.out.OutputBaseTime(base.UnixMilli()) },
		l.out.OutputLegend,
	} {
		if err := line(); err != nil {
			return err
		}
	}
	return nil
}

// Write adds a record of a run that has begun, in the order in which requests end. A record that
// comes after a later second has begun counts there. A latency outside 0 to 8 h counts at the
// nearest end.
func (l *IntervalLog) Write(rec *record.Record) error {
	r := l.runs[rec.Run]
	if rec.Times.End >= l.from+interval {
		if err := l.close(l.from + interval); err != nil {
			return err
		}
		l.from = rec.Times.End.Truncate(interval)
	}
	l.last = max(l.last, rec.Times.End)
	for name, v := range rec.Latencies() {
		h := r.histograms[name]
		// It is in range, so this cannot fail.
		_ = h.RecordValue(min(max(int64(v), 0), h.HighestTrackableValue()))
	}
	return nil
}

// Flush writes the last, unfinished second. Nothing may be written after it until another run
// begins.
func (l *IntervalLog) Flush() error { return l.close(l.last) }

// close writes the interval, which ends there.
func (l *IntervalLog) close(end time.Duration) error {
	for _, r := range l.order {
		for _, name := range record.LatencyNames {
			h := r.histograms[name]
			if h.TotalCount() == 0 {
				continue
			}
			h.SetTag(tag(r.header, name)) // which Reset clears
			h.SetStartTimeMs(l.epoch.Add(l.from).UnixMilli())
			h.SetEndTimeMs(l.epoch.Add(end).UnixMilli())
			if err := l.out.OutputIntervalHistogram(h); err != nil {
				return err
			}
			h.Reset()
		}
	}
	return nil
}
