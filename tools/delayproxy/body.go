package main

import (
	"io"
	"sync"
	"time"
)

// A body is the body of an answer, read from the server as it comes and passed on when it is due.
type body struct {
	server io.ReadCloser
	proxy  *proxy
	entry  *entry
	left   []byte // of the piece that is being passed on
	passed bool   // a piece was

	mu     sync.Mutex
	more   *sync.Cond
	pieces []piece
}

// A piece is what one read from the server returned.
type piece struct {
	data []byte
	came time.Time
	err  error
}

// size is how much one read may return: more than a server writes at once.
const size = 32 << 10

func newBody(server io.ReadCloser, p *proxy, e *entry) *body {
	b := &body{server: server, proxy: p, entry: e}
	b.more = sync.NewCond(&b.mu)
	go b.fill()
	return b
}

// fill reads from the server until its body ends or is closed. It never waits for the client, which would slow
// the server down.
func (b *body) fill() {
	buffer := make([]byte, size)
	for {
		n, err := b.server.Read(buffer)
		p := piece{append([]byte(nil), buffer[:n]...), time.Now(), err}
		if n > 0 {
			if b.entry.First == 0 {
				b.entry.stamp(&b.entry.First)
			}
			b.entry.stamp(&b.entry.Last)
		}
		b.mu.Lock()
		b.pieces = append(b.pieces, p)
		b.mu.Unlock()
		b.more.Signal()
		if err != nil {
			return
		}
	}
}

// Read implements io.Reader. The caller has written a piece to the client when it asks for the next.
func (b *body) Read(to []byte) (int, error) {
	if len(b.left) == 0 {
		b.stampOut()
		next := b.next()
		b.proxy.wait(b.proxy.slow.due(b.entry.Received, next.came))
		if len(next.data) == 0 {
			return 0, next.err
		}
		b.left = next.data
	}
	n := copy(to, b.left)
	b.left, b.passed = b.left[n:], true
	b.entry.Bytes += n
	return n, nil
}

// stampOut notes when the piece before was written.
func (b *body) stampOut() {
	if !b.passed {
		return
	}
	if b.entry.FirstOut == 0 {
		b.entry.stamp(&b.entry.FirstOut)
	}
	b.entry.stamp(&b.entry.LastOut)
}

// next is the next piece. An end that came with data is a piece after it.
func (b *body) next() piece {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.pieces) == 0 {
		b.more.Wait()
	}
	p := b.pieces[0]
	if len(p.data) > 0 && p.err != nil {
		b.pieces[0].data = nil
	} else {
		b.pieces = b.pieces[1:]
	}
	return p
}

// Close implements io.Closer.
func (b *body) Close() error { return b.server.Close() }
