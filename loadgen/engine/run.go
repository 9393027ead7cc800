package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/metrics/record"
)

// A Run sends its Loads to their targets, all on one clock. Records must not be called while
// another call is in progress.
type Run struct {
	Loads []Load

	// Wait is how the dispatchers wait for a due time. Nil means a timerfd for each dispatcher on
	// Linux, and Sleep elsewhere.
	Wait Waiter

	// Drain is how long requests in flight may go on after the context of Records is cancelled. The
	// rest are cut, with class metrics.Cancelled. Zero cuts at once.
	Drain time.Duration

	// Deadline is how long the run may take from the start of the clock. After that nothing is
	// sent, and what is in flight is cut, with class metrics.Deadline. Zero means no limit.
	Deadline time.Duration

	// Ready, if set, is called when the first bodies are encoded, and the clock starts when it
	// returns. soon has for each of the Loads with Ahead how many of these bodies have a due time
	// up to a second after the start. An error means that the run cannot begin.
	Ready func(ctx context.Context, soon []int) error

	// StartAt is when the clock starts, by the wall clock. It is the epoch to the nanosecond,
	// unless Ready returned after it. Zero means at once.
	StartAt time.Time

	// Started, if set, is called when the clock starts, before anything is sent.
	Started func(epoch time.Time)

	// Ended, if set, is called when the last request has ended: perhaps before the last Record is
	// yielded, but not after Records has returned.
	Ended func(at time.Time)
}

// Records runs the loads and yields each request, in the order in which they end. Cancelling ctx
// stops new requests; requests in flight have Drain to end. The last pair may be an error: a
// source, a schedule or a body was wrong, or, as a *record.Failure, the Deadline cut the run
// short. A failed request is a Record, not an error. Breaking out of the loop cuts the requests in
// flight. Records leaves no goroutine behind.
func (r *Run) Records(ctx context.Context) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		group, going := errgroup.WithContext(ctx)
		queues, err := r.prime(going, group)
		if err == nil && r.Ready != nil && going.Err() == nil {
			err = r.Ready(going, soon(queues))
		}
		var epoch time.Time
		if err == nil && going.Err() == nil {
			epoch, err = r.begin(going)
		}
		if err != nil || going.Err() != nil {
			stop(nil)
			group.Wait()
			if err != nil {
				yield(nil, err)
			}
			return
		}
		inFlight, cut := r.cutter(going)
		defer cut(nil)
		defer r.limit(epoch, stop, cut)()

		if r.Started != nil {
			r.Started(epoch)
		}
		records := make(chan *record.Record, recordsAhead)
		for i := range r.Loads {
			d := r.dispatcher(&r.Loads[i], queues[i], epoch)
			d.records, d.crew = records, newCrew(group)
			d.inFlight, d.cut = context.WithCancelCause(inFlight)
			group.Go(func() error { return d.dispatch(going) })
		}
		go func() {
			err = group.Wait()
			if r.Ended != nil {
				r.Ended(time.Now())
			}
			close(records)
		}()
		for rec := range records {
			if !yield(rec, nil) {
				stop(nil)
				cut(nil)
				for range records {
				}
				return
			}
		}
		if over := overtime(ctx); err == nil && over != nil {
			err = over
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// begin waits for StartAt, unless ctx ends first, and returns the epoch.
func (r *Run) begin(ctx context.Context) (epoch time.Time, err error) {
	if r.StartAt.IsZero() {
		return time.Now(), nil
	}
	wait, done, err := waiter(r.Wait)
	if err != nil {
		return epoch, err
	}
	defer done()
	for {
		now := time.Now()
		left := r.StartAt.Round(0).Sub(now)
		if left <= 0 {
			return now, nil
		}
		// Someone may set the wall clock during the wait, so look at it each second, but not so
		// shortly before the start that a late timer would miss the start.
		last := left < 2*time.Second
		if !last {
			left = time.Second
		}
		err := wait(ctx, now.Add(left))
		switch {
		case ctx.Err() != nil:
			return epoch, nil
		case err != nil:
			return epoch, fmt.Errorf("waiting for the start: %w", err)
		case last:
			return now.Add(left), nil
		}
	}
}

// limit ends the run at its Deadline, unless callOff is called.
func (r *Run) limit(epoch time.Time, stop, cut func(cause error)) (callOff func()) {
	if r.Deadline <= 0 {
		return func() {}
	}
	over := record.Failf(record.Deadline, "cut at the run's deadline of %v", r.Deadline)
	// Stop sending first, so that nothing follows what is cut.
	timer := time.AfterFunc(time.Until(epoch.Add(r.Deadline)), func() { stop(over); cut(over) })
	return func() { timer.Stop() }
}

// overtime is the Failure that ended ctx, if a deadline did.
func overtime(ctx context.Context) *record.Failure {
	f, ok := errors.AsType[*record.Failure](context.Cause(ctx))
	if !ok || f.Class != record.Deadline {
		return nil
	}
	return f
}

// prime starts to fill the queues of each load, one for each part, and waits until all have enough
// to begin. An error means that the run cannot begin.
func (r *Run) prime(ctx context.Context, group *errgroup.Group) ([][]*queue, error) {
	queues := make([][]*queue, len(r.Loads))
	for i := range r.Loads {
		load := &r.Loads[i]
		for _, p := range load.stages() {
			q := newQueue(p, load)
			queues[i] = append(queues[i], q)
			wanted, enough := context.WithCancel(ctx)
			q.enough = enough
			group.Go(func() error { return q.fill(wanted) })
		}
	}
	for _, q := range slices.Concat(queues...) {
		<-q.primed
		if q.early != nil {
			return nil, q.early
		}
	}
	return queues, nil
}

// cutter makes the context of the requests in flight. It ends Drain after going ends, or at once if
// a deadline ended going. Calling cut ends it and frees everything.
func (r *Run) cutter(going context.Context) (inFlight context.Context, cut func(cause error)) {
	inFlight, cancel := context.WithCancelCause(context.WithoutCancel(going))
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-going.Done():
			if over := overtime(going); over != nil {
				cancel(over)
			} else if Sleep(inFlight, time.Now().Add(r.Drain)) == nil {
				cancel(nil)
			}
		case <-inFlight.Done():
		}
	}()
	return inFlight, func(cause error) {
		cancel(cause)
		<-done
	}
}

// recordsAhead is how far the consumer of Records may fall behind before it holds back the load: a
// request keeps its slot until its Record is taken.
const recordsAhead = 4096
