// Package metronome is a server that measures its clients.
//
// Think of a streamed completion whose text reports its own times: each event tells when it was
// written and when its request arrived. A client that stamps events on the same machine can
// subtract the two and knows its own error.
//
// The package imports nothing of servebench. So a mistake in the client's parsing or stamping
// cannot be here as well and cancel itself.
package metronome

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
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

// A Server answers any POST with a streamed completion of max_tokens events of
// vLLM's shape. The text of each event is a Truth. One goroutine writes to all
// streams, so an event costs little more than its write. The zero value is ready;
// the fields must not change once it serves.
type Server struct {
	// TTFT is the least time from a request's arrival to its first event.
	TTFT time.Duration
	// ITL is the time between two writes to one stream; 20 ms when zero.
	ITL time.Duration
	// Aligned writes to all streams at the same instants, as an engine's steps do.
	Aligned bool

	start    time.Time
	arrivals chan *stream

	requests, events, late, dropped atomic.Int64
}

// A Count is what a Server has done so far.
type Count struct {
	Requests int64 `json:"requests"`
	// Events counts the events with choices.
	Events int64 `json:"events"`
	// Late counts the events written when their stream's next one was already due.
	Late int64 `json:"late"`
	// Dropped counts the streams that were cut because the client did not read.
	Dropped int64 `json:"dropped"`
}

// arrivalsAhead is how many requests may arrive between two writes before the next
// one waits.
const arrivalsAhead = 1024

// Serve answers the connections that l accepts, each for any number of requests.
// When ctx ends it closes l, cuts all streams, waits for their end and returns
// nil. It may be called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var going sync.WaitGroup
	defer going.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { l.Close() })
	s.start, s.arrivals = time.Now(), make(chan *stream, arrivalsAhead)
	going.Go(func() { s.write(ctx) })
	for {
		accepted, err := l.Accept()
		switch {
		case ctx.Err() != nil && err != nil:
			return nil
		case err != nil:
			return fmt.Errorf("accepting: %w", err)
		}
		going.Go(func() { s.answer(ctx, newConn(accepted)) })
	}
}

// Count may be called at any time.
func (s *Server) Count() Count {
	return Count{s.requests.Load(), s.events.Load(), s.late.Load(), s.dropped.Load()}
}

// answer reads the requests of one connection and hands each to write. While that
// answers one, answer waits for the next, and so learns when the client goes.
func (s *Server) answer(ctx context.Context, c conn) {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	for r := bufio.NewReader(c); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		arrived := c.arrived()
		var asked struct {
			MaxTokens int `json:"max_tokens"`
		}
		if err := json.Unmarshal(body, &asked); req.Method != http.MethodPost || err != nil || asked.MaxTokens < 1 {
			const text = `{"error":{"message":"a metronome needs a POST with max_tokens","type":"BadRequestError","param":null,"code":400}}`
			fmt.Fprintf(c, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				len(text), text)
			continue
		}
		if _, err := io.WriteString(c, ReplyHead); err != nil {
			return
		}
		s.requests.Add(1)
		select {
		case s.arrivals <- &stream{conn: c, truth: Truth{Arrived: arrived.UnixNano()}, due: s.firstDue(arrived),
			tokens: asked.MaxTokens}:
		case <-ctx.Done():
			return
		}
	}
}

// write writes to all streams as they become due, until ctx ends.
func (s *Server) write(ctx context.Context) {
	var streams agenda
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var alarm <-chan time.Time
		if len(streams) > 0 {
			timer.Reset(streams[0].due - time.Since(s.start))
			alarm = timer.C
		}
		select {
		case arrived := <-s.arrivals:
			heap.Push(&streams, arrived)
			for len(s.arrivals) > 0 {
				heap.Push(&streams, <-s.arrivals)
			}
		case <-alarm:
			s.writeDue(&streams)
		case <-ctx.Done():
			return
		}
	}
}

// writeDue writes to the streams that are due now.
func (s *Server) writeDue(streams *agenda) {
	now := time.Since(s.start)
	for len(*streams) > 0 && (*streams)[0].due <= now {
		next := (*streams)[0]
		err := next.write()
		s.events.Add(1)
		if err != nil || next.sent == next.tokens {
			if errors.Is(err, errFull) {
				s.dropped.Add(1)
			}
			if err != nil {
				next.conn.Close()
			}
			heap.Pop(streams)
			continue
		}
		if missed := (time.Since(s.start) - next.due) / s.itl(); missed > 0 {
			s.late.Add(1)
			next.due += missed * s.itl()
		}
		next.due += s.itl()
		heap.Fix(streams, 0)
	}
}

func (s *Server) itl() time.Duration { return cmp.Or(s.ITL, 20*time.Millisecond) }

// firstDue is when the first event of a request is due, counted from the start.
func (s *Server) firstDue(arrived time.Time) time.Duration {
	due := max(arrived.Sub(s.start), 0) + s.TTFT
	if s.Aligned {
		due = (due + s.itl() - 1) / s.itl() * s.itl()
	}
	return due
}
