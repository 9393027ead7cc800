package loadgen

import (
	"context"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/metrics"
)

// A Run puts its Loads on their targets, all on one clock. It may be used for
// one call of Records at a time.
type Run struct {
	Header *metrics.Header // its Run id goes into every Record; may be nil
	Loads  []Load

	// Wait is how the dispatchers wait for a due time. Nil means a timerfd
	// of each dispatcher's own on Linux and Sleep elsewhere.
	Wait Waiter

	// Drain is how long requests in flight may go on once the context of
	// Records is cancelled. Those still going then are cut, with class
	// metrics.Cancelled. Zero cuts at once.
	Drain time.Duration

	// Started, if set, is called when the clock starts: the first bodies are
	// encoded by then and nothing has been sent.
	Started func(epoch time.Time)

	// Live, if set, is kept up to date while the run goes on.
	Live *Live
}

// Records runs the loads and yields what each request did, in the order in which
// they ended. Cancelling ctx stops new requests; those in flight are given
// Drain to end. An error is yielded last: a source, a schedule or a body went
// wrong. A failed request is a Record, not an error. Breaking out of the loop
// cuts the requests in flight. No goroutine is left behind.
func (r *Run) Records(ctx context.Context) iter.Seq2[*metrics.Record, error] {
	return func(yield func(*metrics.Record, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		group, going := errgroup.WithContext(ctx)
		inFlight, cut := context.WithCancel(context.WithoutCancel(ctx))
		defer cut()

		queues := make([]*queue, len(r.Loads))
		for i := range r.Loads {
			queues[i] = newQueue()
			group.Go(func() error { return queues[i].fill(going, &r.Loads[i]) })
		}
		for _, q := range queues {
			<-q.primed
		}
		if going.Err() != nil {
			if err := group.Wait(); err != nil {
				yield(nil, err)
			}
			return
		}

		epoch := time.Now()
		if r.Started != nil {
			r.Started(epoch)
		}
		records := make(chan *metrics.Record, recordsAhead)
		for i := range r.Loads {
			d := r.dispatcher(&r.Loads[i], queues[i])
			d.epoch, d.inFlight, d.records = epoch, inFlight, records
			group.Go(func() error { return d.dispatch(going) })
		}
		var err error
		go func() {
			err = group.Wait()
			close(records)
		}()
		unhook := context.AfterFunc(going, func() { cutAfter(inFlight, cut, r.Drain) })
		defer unhook()

		for rec := range records {
			if !yield(rec, nil) {
				stop()
				cut()
				for range records {
				}
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// recordsAhead is how far the consumer of Records may fall behind before that
// holds back the load: a request keeps its slot until its Record is taken.
const recordsAhead = 4096

// cutAfter calls cut once limit has passed, unless ctx ends first.
func cutAfter(ctx context.Context, cut context.CancelFunc, limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-t.C:
		cut()
	case <-ctx.Done():
	}
}
