package exchange_test

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
)

// unmarked is the greatest error of a stamp without a mark.
const unmarked = 100 * time.Microsecond

// onSocket calls do with the client's socket.
func (l *lateReader) onSocket(do func(fd int) error) {
	l.t.Helper()
	raw, err := l.client.SyscallConn()
	if err == nil {
		var failed error
		if err = raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err == nil {
			err = failed
		}
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// acknowledge makes the client's kernel acknowledge at once, or only after 40 ms or more. On one
// machine, segments that were not acknowledged are not joined.
func (l *lateReader) acknowledge(quick int) {
	l.onSocket(func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, quick) })
}

// kept is the kernel's stamp of the segment that holds the n-th unread byte. It takes nothing.
func (l *lateReader) kept(n int) (stamp int64) {
	l.onSocket(func(fd int) error {
		control := make([]byte, 128)
		_, length, _, _, err := unix.Recvmsg(fd, make([]byte, n), control, unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err != nil {
			return err
		}
		messages, err := unix.ParseSocketControlMessage(control[:length])
		for _, m := range messages {
			if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS {
				stamp = (*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Nano()
			}
		}
		return err
	})
	return stamp
}

// Events that a late reader finds together have the stamps that the kernel kept. Where it has joined
// segments, there is a mark. Two events of one write stay together.
func TestALateReaderTakesTheStampsThatTheKernelKept(t *testing.T) {
	needStamps(t)
	for name, quick := range map[string]int{"acknowledged late": 0, "acknowledged at once": 1} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			l := newLateReader(t, false, false)
			l.acknowledge(quick)
			l.arrive(wiretest.Framed(numbered(0, 200)))
			lie(start)
			l.next() // late, so the next read looks first
			l.acknowledge(quick)
			texts := []string{wiretest.Framed(numbered(1, 200)), wiretest.Framed(numbered(2, 230)), wiretest.Framed(numbered(3, 9)) + wiretest.Framed(numbered(4, 9)), wiretest.Framed(numbered(5, 300))}
			var stamps []int64
			var came [][2]time.Time
			for i, text := range texts {
				before, after := l.arrive(text)
				for time.Since(before) < 5*unmarked {
					runtime.Gosched()
				}
				if l.acknowledge(quick); i == 2 {
					came = append(came, [2]time.Time{before, after})
				}
				came = append(came, [2]time.Time{before, after})
			}
			lie(start)
			for i, n := 0, 0; i < len(came); i++ {
				n += []int{len(texts[0]), len(texts[1]), len(texts[2]) / 2, len(texts[2]) / 2, len(texts[3])}[i]
				stamps = append(stamps, l.kept(n))
			}
			var chunks []engine.Chunk
			for range came {
				chunks = append(chunks, l.next())
			}
			l.end()
			for i, c := range chunks {
				joined := i < len(chunks)-1 && stamps[i] == stamps[i+1]
				before, after := came[i][0], came[i][1]
				switch {
				case joined && c.At.Add(-c.Late).After(after.Add(unmarked)):
					t.Errorf("event %d, stamped %v after it came, is marked by %v", i, c.At.Sub(after), c.Late)
				case !joined && (c.Late != 0 || c.At.Before(before) || c.At.After(after)):
					t.Errorf("event %d, whose stamp was kept: stamped %v after it came, marked by %v", i, c.At.Sub(after), c.Late)
				case i > 0 && stamps[i] == stamps[i-1] != c.At.Equal(chunks[i-1].At):
					t.Errorf("event %d: stamp %v, before %v; by the kernel %d, %d", i, c.At, chunks[i-1].At, stamps[i], stamps[i-1])
				}
			}
			distinct := len(slices.Compact(stamps))
			t.Logf("the kernel had %d stamps of %d events", distinct, len(chunks))
			if l.rec.Answer.SharedReads != len(chunks)-distinct {
				t.Errorf("%d events shared a read", l.rec.Answer.SharedReads)
			}
		})
	}
}
