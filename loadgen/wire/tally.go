package wire

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics/evidence"
)

const (
	// lateAge is the age from which on we read late. A context switch can take a millisecond.
	lateAge = time.Millisecond
	// lateFor is how long a late read makes others late: the goroutines that became ready while it
	// waited run one after the other. So it also tells that the first bytes of a read waited if its
	// newest bytes did not.
	lateFor = 10 * time.Millisecond
	// lateLeast is the least error of a stamp that is worth a mark: a hundredth of the shortest
	// usual ITL.
	lateLeast = 100 * time.Microsecond
)

// A Tally counts the streams and connections of a run. The zero value is ready, a nil *Tally counts
// nothing, and all its methods are safe for concurrent use. It must not be copied after first use.
type Tally struct {
	ages   ages         // of chunks that the kernel stamped
	behind atomic.Int64 // when we last read late, in nanoseconds of Unix time
	lateBy atomic.Int64 // and by how many nanoseconds
	user   atomic.Int64 // chunks stamped after the read
	shared atomic.Int64 // chunks that shared a read with an earlier chunk

	disordered        atomic.Int64 // packets that arrived before an earlier packet
	opened, warmed    atomic.Int64 // connections
	exhausted, closed atomic.Int64
	unprocessed       atomic.Int64 // times that a server said that it did not process a request
	dropped           atomic.Int64 // connections closed after an answer because the server would
	exhaustion        atomic.Pointer[string]
	protocol          atomic.Pointer[string]
	cookies           atomic.Pointer[[]string] // names
	own, net          atomic.Bool              // who speaks HTTP on connections: see evidence.Evidence
	packed            atomic.Int64             // replies that came compressed

	splits trial // of reads of several events
}

// Reset clears the counts, except for connections that were opened beforehand and cookies. It is called when
// the clock starts.
func (t *Tally) Reset() {
	if t == nil {
		return
	}
	t.ages.reset()
	for _, n := range []*atomic.Int64{&t.user, &t.shared, &t.disordered, &t.opened, &t.exhausted, &t.closed, &t.dropped,
		&t.packed, &t.unprocessed} {
		n.Store(0)
	}
	t.exhaustion.Store(nil)
	t.protocol.Store(nil)
}

// Report fills the fields of e that t knows.
func (t *Tally) Report(e *evidence.Evidence) {
	if t == nil {
		return
	}
	e.Stamps.Kernel, e.Stamps.User, e.Stamps.SharedReads = t.ages.total(), t.user.Load(), t.shared.Load()
	e.Stamps.Disordered = t.disordered.Load()
	conns := &e.Connections
	conns.Opened, conns.Warmed, conns.Closed = t.opened.Load(), t.warmed.Load(), t.closed.Load()
	conns.Dropped, conns.Exhausted, conns.Packed = t.dropped.Load(), t.exhausted.Load(), t.packed.Load()
	conns.Unprocessed = t.unprocessed.Load()
	if said := t.exhaustion.Load(); said != nil {
		conns.Exhaustion = *said
	}
	if names := t.cookies.Load(); names != nil {
		conns.Cookies = *names
	}
	if name := t.protocol.Load(); name != nil {
		conns.Protocol = *name
	}
	var spoken []string
	if t.own.Load() {
		spoken = append(spoken, evidence.TransportOwn)
	}
	if t.net.Load() {
		spoken = append(spoken, evidence.TransportNet)
	}
	conns.Transport = strings.Join(spoken, " and ")
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
		if a.Age > lateAge {
			t.late(a.taken().UnixNano(), a.Age)
		}
	} else {
		t.user.Add(1)
	}
	if shared {
		t.shared.Add(1)
	}
}

// Late bounds how much earlier than its stamp a chunk arrived that shared the read a with later
// bytes. It is 0 if we read in time: the server then sent them together.
func (t *Tally) Late(a Arrival) time.Duration {
	by := a.Reach - a.Age
	if by < lateLeast {
		return 0
	}
	switch now := a.taken().UnixNano(); {
	case a.Age > lateAge:
		t.late(now, a.Reach)
	case t == nil || now-t.behind.Load() > int64(lateFor):
		return 0
	}
	return by
}

// late notes a read that was late at that time, unless another one was as late just before.
func (t *Tally) late(now int64, by time.Duration) {
	if t == nil || int64(by) < t.lateBy.Load() && now-t.behind.Load() <= int64(lateFor) {
		return
	}
	t.behind.Store(now)
	t.lateBy.Store(int64(by))
}

// behindBy reports whether some connection was read that late a moment ago.
func (t *Tally) behindBy(age time.Duration) bool {
	return t != nil && t.lateBy.Load() > int64(age) && time.Now().UnixNano()-t.behind.Load() <= int64(lateFor)
}

// Disorder counts packets that arrived before an earlier packet.
func (t *Tally) Disorder(packets int64) {
	if t != nil {
		t.disordered.Add(packets)
	}
}

// speaks notes who speaks HTTP on a connection.
func (t *Tally) speaks(own bool) {
	switch {
	case t == nil:
	case own:
		t.own.Store(true)
	default:
		t.net.Store(true)
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

// unprocess counts a request that is sent again because the server said that it did not process it.
func (t *Tally) unprocess() {
	if t != nil {
		t.unprocessed.Add(1)
	}
}

// Cookies notes the names of the cookies that the server has set and that requests return.
func (t *Tally) Cookies(names []string) {
	if t != nil {
		t.cookies.Store(&names)
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

const (
	// mostDebt is how many vain attempts a trial allows before it doubts.
	mostDebt = 128
	// gainPays is how many vain attempts a successful one pays for.
	gainPays = 16
	// doubtEvery is how often a trial that doubts tries.
	doubtEvery = 8
)

// A trial tells whether something is worth trying that pays in some runs only. The zero value is
// ready, and a nil *trial finds everything worth trying. All methods are safe for concurrent use.
type trial struct {
	debt   atomic.Int64 // vain attempts not paid for; about mostDebt at most
	passed atomic.Int64 // chances while it doubted
}

// worth reports whether to try now.
func (t *trial) worth() bool {
	return t == nil || t.debt.Load() < mostDebt || t.passed.Add(1)%doubtEvery == 0
}

// tried notes an attempt.
func (t *trial) tried(gained bool) {
	switch {
	case t == nil:
	case gained:
		t.debt.Store(max(0, t.debt.Load()-gainPays))
	case t.debt.Load() < mostDebt:
		t.debt.Add(1)
	}
}
