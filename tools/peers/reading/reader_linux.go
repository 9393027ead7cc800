package reading

import (
	"context"
	"errors"
	"iter"
	"net"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// The bare readers that clients are compared with, without and with the kernel's stamps.
const (
	Bare        = "floor"
	BareStamped = "floor+stamp"
)

// A reader reads many streams.
type reader interface {
	connect(addr net.Addr) error // opens one more stream
	expect(n int)                // announces how many events come next, before they are written
	consume() error              // returns once they have been read
}

func newReader(client string, addr net.Addr) (reader, error) {
	if client == Bare || client == BareStamped {
		return newFloor(client == BareStamped)
	}
	return &crowd{send: Sender(client, "http://"+addr.String()), records: client == Recording, done: make(chan error, 1)},
		nil
}

// errEarly says that events were read before consume was called.
var errEarly = errors.New("events were read too early")

// A crowd reads with a goroutine for each stream.
type crowd struct {
	send    engine.Sender
	records bool // as a run does: stamps go into a record, and events are counted for the live view
	seen    atomic.Int64
	before  int64        // events seen when expect was called
	until   atomic.Int64 // consume ends when so many have been seen
	done    chan error
}

func (c *crowd) connect(net.Addr) error {
	request := &engine.Request{Body: requestBody(1 << 30), NoText: true}
	if c.records {
		target := engine.Target{Send: c.counted}
		go target.Once(context.Background(), request)
		return nil
	}
	go func() {
		for range c.counted(context.Background(), time.Now(), request, new(record.Record)) {
		}
	}()
	return nil
}

// counted is a Sender that counts events, and tells when all have been seen.
func (c *crowd) counted(ctx context.Context, epoch time.Time, req *engine.Request,
	rec *record.Record) iter.Seq2[engine.Chunk, error] {
	return func(yield func(engine.Chunk, error) bool) {
		for chunk, err := range c.send(ctx, epoch, req, rec) {
			if !yield(chunk, err) {
				return
			}
			if err != nil || c.seen.Add(1) == c.until.Load() {
				c.done <- err
			}
		}
	}
}

func (c *crowd) expect(n int) {
	c.before = c.seen.Load()
	c.until.Store(c.before + int64(n))
}

func (c *crowd) consume() error {
	early := c.seen.Load() != c.before
	if err := <-c.done; err != nil || !early {
		return err
	}
	return errEarly
}
