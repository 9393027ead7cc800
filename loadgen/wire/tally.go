package wire

import (
	"errors"
	"net/http"
	"sync/atomic"
	"syscall"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
)

// A Tally counts the streams and connections of a run. The zero value is ready, a nil *Tally counts
// nothing, and all its methods are safe for concurrent use. It must not be copied after first use.
type Tally struct {
	ages   ages         // of chunks that the kernel stamped
	user   atomic.Int64 // chunks stamped after the read
	shared atomic.Int64 // chunks that shared a read with an earlier chunk

	disordered        atomic.Int64 // packets that arrived before an earlier packet
	opened, warmed    atomic.Int64 // connections
	exhausted, closed atomic.Int64
	dropped           atomic.Int64 // connections closed after an answer because the server would
	exhaustion        atomic.Pointer[string]
	protocol          atomic.Pointer[string]
	packed            atomic.Int64 // replies that came compressed
}

// Reset clears the counts, except for connections that were opened beforehand. It is called when
// the clock starts.
func (t *Tally) Reset() {
	if t == nil {
		return
	}
	t.ages.reset()
	for _, n := range []*atomic.Int64{&t.user, &t.shared, &t.disordered, &t.opened, &t.exhausted, &t.closed, &t.dropped, &t.packed} {
		n.Store(0)
	}
	t.exhaustion.Store(nil)
	t.protocol.Store(nil)
}

// Report fills the fields of e that t knows.
func (t *Tally) Report(e *metrics.Evidence) {
	if t == nil {
		return
	}
	e.KernelStamps, e.UserStamps, e.SharedReads = t.ages.total(), t.user.Load(), t.shared.Load()
	e.Opened, e.Warmed, e.Closed, e.Dropped = t.opened.Load(), t.warmed.Load(), t.closed.Load(), t.dropped.Load()
	e.Disordered, e.Exhausted, e.Packed = t.disordered.Load(), t.exhausted.Load(), t.packed.Load()
	if said := t.exhaustion.Load(); said != nil {
		e.Exhaustion = *said
	}
	if name := t.protocol.Load(); name != nil {
		e.Protocol = *name
	}
}

// Ages has, for each chunk that the kernel stamped, how long its bytes waited in the socket, in
// nanoseconds, from 1 µs to 8 h, to within 4 %. The caller owns it.
func (t *Tally) Ages() *hdrhistogram.Histogram {
	if t == nil {
		return new(ages).histogram()
	}
	return t.ages.histogram()
}

// Chunk counts a chunk by its arrival, and whether it shared its read with an earlier chunk.
func (t *Tally) Chunk(a Arrival, shared bool) {
	if t == nil {
		return
	}
	if a.kernel {
		t.ages.add(a.Age)
	} else {
		t.user.Add(1)
	}
	if shared {
		t.shared.Add(1)
	}
}

// Disorder counts packets that arrived before an earlier packet.
func (t *Tally) Disorder(packets int64) {
	if t != nil {
		t.disordered.Add(packets)
	}
}

// open counts a connection that was opened for a request.
func (t *Tally) open() {
	if t != nil {
		t.opened.Add(1)
	}
}

// warm counts a connection that was opened beforehand.
func (t *Tally) warm() {
	if t != nil {
		t.warmed.Add(1)
	}
}

// drop counts a connection that is not used again, because its server closes connections after
// answers.
func (t *Tally) drop() {
	if t != nil {
		t.dropped.Add(1)
	}
}

// exhaustions are the errors of a machine that has no descriptors or ports left.
var exhaustions = []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS}

// refused counts a connection that this machine could not open for lack of resources.
func (t *Tally) refused(err error) {
	if t == nil {
		return
	}
	for _, want := range exhaustions {
		if errors.Is(err, want) {
			said := err.Error()
			t.exhausted.Add(1)
			t.exhaustion.CompareAndSwap(nil, &said)
			return
		}
	}
}

// Replied counts a reply once its head has arrived.
func (t *Tally) Replied(reply *http.Response) {
	if t == nil {
		return
	}
	if reply.Close {
		t.closed.Add(1)
	}
	if packed(reply) != "" {
		t.packed.Add(1)
	}
	if t.protocol.Load() == nil {
		name := reply.Proto // not &reply.Proto, which would keep the whole reply in memory
		t.protocol.CompareAndSwap(nil, &name)
	}
}
