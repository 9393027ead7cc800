package spool

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// lateAfter is how long a line may wait before writing counts as blocked.
	lateAfter = 100 * time.Millisecond

	// gatherFor is how long lines gather between two calls of Write.
	gatherFor = 40 * time.Millisecond
)

// A spool writes lines to their destination, each in one call of Write or many together, and in
// order. It keeps lines that cannot be written at once, so Write never waits. After an error of the
// destination it takes no more lines. One goroutine may call Write; the goroutine that writes
// starts with the first line and ends after finish.
type spool struct {
	to io.Writer

	mu      sync.Mutex
	backlog backlog
	err     error // of the writer
	closed  bool  // no line follows

	taken   int           // spooled that were written
	last    time.Time     // when the last of them was written
	blocked time.Duration // up to then
	wake    chan struct{} // holds one signal: a line came, or none will follow
	over    chan struct{} // closed once no line follows
	done    chan struct{} // closed once everything is written, or after an error
}

func newSpool(to io.Writer) *spool {
	return &spool{to: to, wake: make(chan struct{}, 1), over: make(chan struct{})}
}

// Write keeps a line, which must end in its only line end. The error is an earlier one.
func (s *spool) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if s.done == nil {
		s.done = make(chan struct{})
		go s.run()
	}
	s.backlog.keep(line)
	s.signal()
	return len(line), nil
}

func (s *spool) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run writes until everything is written and no line follows, or until an error.
func (s *spool) run() {
	defer close(s.done)
	defer s.backlog.file.close()
	for {
		text, err := s.next()
		if text == nil && err == nil {
			s.end()
			return
		}
		if err == nil {
			_, err = s.to.Write(text)
		}
		if s.wrote(err); err != nil {
			return
		}
		s.gather()
	}
}

// gather lets lines come together before the next is written.
func (s *spool) gather() {
	if !s.backlog.gathers {
		return
	}
	enough := time.NewTimer(gatherFor)
	defer enough.Stop()
	select {
	case <-enough.C:
	case <-s.over:
	}
}

// end completes what was written, if the destination needs that.
func (s *spool) end() {
	p, ok := s.to.(*packer)
	if !ok {
		return
	}
	err := p.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// next is the oldest text; nil if no line follows.
func (s *spool) next() ([]byte, error) {
	for {
		s.mu.Lock()
		first := s.backlog.take()
		over, from, to := s.closed, s.backlog.file.read, s.backlog.file.wrote
		s.mu.Unlock()
		switch {
		case first != nil:
			return first, nil
		case from < to:
			if err := s.refill(from, to); err != nil {
				return nil, err
			}
		case over:
			return nil, nil
		default:
			<-s.wake
		}
	}
}

// refill reads lines from that part of the file, which no longer changes.
func (s *spool) refill(from, to int64) error {
	text, err := s.backlog.file.lines(from, to)
	if err != nil {
		return fmt.Errorf("reading the temporary file: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog.refill(text)
	return nil
}

// wrote removes the oldest text, unless there was an error.
func (s *spool) wrote(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog.taken = false
	if err != nil {
		s.err = err
		return
	}
	now := time.Now()
	s.blocked += s.late(now)
	s.last = now
	s.taken++
	s.backlog.drop()
}

// late is how long the oldest line has been late, not counting time in which an earlier line was.
func (s *spool) late(now time.Time) time.Duration {
	from := s.backlog.lines[0].at.Add(lateAfter)
	if from.Before(s.last) {
		from = s.last
	}
	return max(0, now.Sub(from))
}

// behind is how long writing has been blocked until now: a line had waited longer than lateAfter.
func (s *spool) behind() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog.lines) == 0 || s.err != nil {
		return s.blocked
	}
	return s.blocked + s.late(time.Now())
}

// finish says that no line follows. The channel is closed once everything is written.
func (s *spool) finish() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		close(s.done)
	}
	if !s.closed {
		s.closed = true
		close(s.over)
	}
	s.signal()
	return s.done
}

// left is how much is not yet written.
func (s *spool) left() size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backlog.left()
}

// A size is in bytes.
type size int64

func (n size) String() string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// written grows with every text that is written.
func (s *spool) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// failed is the error of the destination.
func (s *spool) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// trouble is the error that kept lines out of the temporary file.
func (s *spool) trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.backlog.file.err
}
