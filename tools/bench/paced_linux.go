package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// step is how often all streams of the paced bench get an event.
	step = 25 * time.Millisecond
	// warmSteps are not measured: streams begin, buffers grow.
	warmSteps = 20
	// tailSteps are not either, so that no stream ends before the measuring does.
	tailSteps = 4
)

// A pacedJob lets one client read streams that all get an event at each step.
type pacedJob struct {
	Client  string
	Addr    netip.AddrPort
	CPU     int // that it runs on
	Streams int
	Steps   int // measured
}

// A paced is what a client needed and how right it was.
type paced struct {
	CPU    float64 // nanoseconds an event
	Others float64 // share of the client's CPU that others took
	Alone  lateness
	Shared lateness // of events that shared a read with others
}

// A lateness is by how much stamps were later than the truth, in milliseconds.
type lateness struct {
	Events              int
	P50, P99, P999, Max float64
}

func latenessOf(ms []float64) lateness {
	slices.Sort(ms)
	return lateness{len(ms), percentile(ms, 50), percentile(ms, 99), percentile(ms, 99.9), percentile(ms, 100)}
}

func (j pacedJob) run() (any, error) {
	m := &meter{
		cpu:  fmt.Sprintf("cpu%d", j.CPU),
		from: int64(j.Streams * warmSteps), to: int64(j.Streams * (warmSteps + j.Steps)),
	}
	var alone, shared []float64
	var err error
	if j.Client == bareStamped {
		err = j.floor(m)
	} else {
		alone, shared, err = j.crowd(m)
	}
	if err != nil {
		return nil, err
	}
	if m.err != nil || m.end.at.IsZero() {
		return nil, fmt.Errorf("not measured to the end: %d events came: %w", m.seen.Load(), m.err)
	}
	own, others := m.end.since(m.start)
	return paced{
		CPU: float64(own) / float64(m.to-m.from), Others: others, Alone: latenessOf(alone), Shared: latenessOf(shared),
	}, nil
}

func (j pacedJob) tokens() int { return warmSteps + j.Steps + tailSteps }

func (j pacedJob) floor(m *meter) error {
	f, err := newFloor(j.Addr, true)
	if err != nil {
		return err
	}
	for range j.Streams {
		if err := f.connect(j.tokens()); err != nil {
			return err
		}
	}
	return f.each(func(events int) bool { return m.count(events) })
}

// crowd gives by how much the stamps were late, in milliseconds.
func (j pacedJob) crowd(m *meter) (alone, shared []float64, err error) {
	s, err := newStream(j.Client, "http://"+j.Addr.String())
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Duration(j.tokens())*step+10*time.Second)
	defer cancel()
	logs := make([]stampLog, j.Streams)
	failed := make(chan error, 1)
	var streams sync.WaitGroup
	for i := range logs {
		logs[i].stamps = make([]stamp, 0, j.tokens())
		streams.Go(func() {
			err := s(ctx, j.tokens(), func(a arrival) {
				logs[i].add(a)
				m.count(1)
			})
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	streams.Wait()
	for _, l := range logs {
		for _, s := range l.stamps[min(warmSteps, len(l.stamps)):] {
			if s.shared {
				shared = append(shared, s.late)
			} else {
				alone = append(alone, s.late)
			}
		}
	}
	select {
	case err = <-failed:
	default:
	}
	return alone, shared, err
}

// A stampLog holds the errors of one stream's stamps.
type stampLog struct{ stamps []stamp }

type stamp struct {
	late   float64 // milliseconds after the truth
	shared bool    // it came in one read with another
}

// add takes an event down. One that shares its read makes the one before a
// sharer, too.
func (l *stampLog) add(a arrival) {
	if a.truth == 0 {
		return
	}
	if n := len(l.stamps); a.shared && n > 0 {
		l.stamps[n-1].shared = true
	}
	l.stamps = append(l.stamps, stamp{float64(a.at.UnixNano()-a.truth) / 1e6, a.shared})
}

// A meter takes the CPU time between two events, as they are counted.
type meter struct {
	cpu      string
	from, to int64 // measured from and to so many events
	seen     atomic.Int64

	start, end usage
	err        error
}

// count counts events and reports whether there are more to be measured.
func (m *meter) count(events int) bool {
	now := m.seen.Add(int64(events))
	before := now - int64(events)
	if before < m.from && now >= m.from {
		m.start, m.err = usageOf(m.cpu)
	}
	if before < m.to && now >= m.to {
		m.end, m.err = usageOf(m.cpu)
	}
	return now < m.to
}
