// Package metronome is a server that measures its clients.
//
// Each event that it writes tells when it was written and when its request came.
// It imports nothing of the client, so that one mistake cannot be on both sides
// and cancel itself.
package metronome

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Metronome is a server that measures its clients. It answers any POST with a
// streamed completion of max_tokens events of vLLM's shape, and the text of each
// event is the Truth about it. One goroutine writes to all streams, so an event
// costs little more than its write. The zero value is ready; the fields must not
// change once it serves. Connections are kept for further requests.
type Metronome struct {
	TTFT     time.Duration // from a request's arrival to its first event, at least
	ITL      time.Duration // between the writes of one stream; 20 ms when zero
	Aligned  bool          // all streams are written to at the same instants, as an engine's steps have it
	PerWrite int           // events in a write; 1 when zero

	once     sync.Once
	quit     chan struct{}
	arrivals chan *beat
	start    time.Time
	going    sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	listener net.Listener
	lines    map[line]struct{}

	requests, events, late, dropped atomic.Int64
}

// A MetronomeCount is what a Metronome did so far.
type MetronomeCount struct {
	Requests int64 `json:"requests"`
	Events   int64 `json:"events"`  // with choices
	Late     int64 `json:"late"`    // events written when their stream's next one was due already, or later
	Dropped  int64 `json:"dropped"` // streams cut because the client did not read
}

const (
	// patience is how long one write may take where there are only writes that
	// wait.
	patience = 10 * time.Millisecond
	// unread is how many bytes may wait for a client that does not read, beside
	// what its own side holds: some hundred events.
	unread = 64 << 10
	// arrivalsAhead is how many requests may come between two writes before the
	// next one waits.
	arrivalsAhead = 1024
)

// errFull says that a socket has no room for an event.
var errFull = errors.New("the client does not read")

// Serve answers the connections that l accepts until Close, and then returns
// nil. It may be called once.
func (m *Metronome) Serve(l net.Listener) error {
	m.prepare()
	if !m.begin(l) {
		return l.Close()
	}
	for {
		conn, err := l.Accept()
		select {
		case <-m.quit:
			if err == nil {
				conn.Close()
			}
			return nil
		default:
		}
		if err != nil {
			return fmt.Errorf("accepting: %w", err)
		}
		m.take(newLine(conn))
	}
}

// Close ends Serve, cuts all streams and waits for their end.
func (m *Metronome) Close() error {
	m.prepare()
	err := m.cut()
	m.going.Wait()
	return err
}

func (m *Metronome) cut() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	close(m.quit)
	for l := range m.lines {
		l.Close()
	}
	if m.listener == nil {
		return nil
	}
	return m.listener.Close()
}

// Count may be called at any time.
func (m *Metronome) Count() MetronomeCount {
	return MetronomeCount{m.requests.Load(), m.events.Load(), m.late.Load(), m.dropped.Load()}
}

func (m *Metronome) prepare() {
	m.once.Do(func() {
		m.quit = make(chan struct{})
		m.arrivals = make(chan *beat, arrivalsAhead)
		m.lines = make(map[line]struct{})
		m.start = time.Now()
	})
}

// begin reports whether there is something to do: Close may have been first.
func (m *Metronome) begin(l net.Listener) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.listener = l
		m.going.Go(m.conduct)
	}
	return !m.closed
}

// take begins to answer a connection.
func (m *Metronome) take(l line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		l.Close()
		return
	}
	m.lines[l] = struct{}{}
	m.going.Go(func() { m.answer(l) })
}

// answer takes the requests of one connection and hands them to the conductor.
// Meanwhile it waits for the next one, and so learns when the client goes.
func (m *Metronome) answer(l line) {
	defer func() {
		l.Close()
		m.mu.Lock()
		delete(m.lines, l)
		m.mu.Unlock()
	}()
	for r := bufio.NewReader(l); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		arrived := l.arrived()
		var asked struct {
			MaxTokens int `json:"max_tokens"`
		}
		if err := json.Unmarshal(body, &asked); req.Method != http.MethodPost || err != nil || asked.MaxTokens < 1 {
			const text = `{"error":{"message":"a Metronome needs a POST with max_tokens","type":"BadRequestError","param":null,"code":400}}`
			fmt.Fprintf(l, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			continue
		}
		if _, err := l.Write([]byte(metronomeHead)); err != nil {
			return
		}
		select {
		case m.arrivals <- m.newBeat(l, arrived, asked.MaxTokens):
		case <-m.quit:
			return
		}
	}
}

// conduct writes to all streams when they are due, until Close.
func (m *Metronome) conduct() {
	var due agenda
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var alarm <-chan time.Time
		if len(due) > 0 {
			timer.Reset(due[0].due - time.Since(m.start))
			alarm = timer.C
		}
		select {
		case b := <-m.arrivals:
			heap.Push(&due, b)
			for len(m.arrivals) > 0 {
				heap.Push(&due, <-m.arrivals)
			}
		case <-alarm:
			m.strike(&due)
		case <-m.quit:
			return
		}
	}
}

// strike writes to the streams that are due by now.
func (m *Metronome) strike(due *agenda) {
	now := time.Since(m.start)
	for len(*due) > 0 && (*due)[0].due <= now {
		b := (*due)[0]
		n, err := b.write(max(m.PerWrite, 1))
		m.events.Add(int64(n))
		if err != nil || b.left == 0 {
			if errors.Is(err, errFull) {
				m.dropped.Add(1)
			}
			if err != nil {
				b.line.Close()
			}
			heap.Pop(due)
			continue
		}
		if missed := (time.Since(m.start) - b.due) / m.itl(); missed > 0 {
			m.late.Add(int64(n))
			b.due += missed * m.itl()
		}
		b.due += m.itl()
		heap.Fix(due, 0)
	}
}

func (m *Metronome) itl() time.Duration { return cmp.Or(m.ITL, 20*time.Millisecond) }

// firstDue is when a stream is written to first.
func (m *Metronome) firstDue(arrived time.Time) time.Duration {
	due := max(arrived.Sub(m.start), 0) + m.TTFT
	if m.Aligned {
		due = (due + m.itl() - 1) / m.itl() * m.itl()
	}
	return due
}
