package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// The bare readers that the clients are compared with, without and with the kernel's stamps.
const (
	bare        = "floor"
	bareStamped = "floor+stamp"
)

const (
	// burstStreams is how many streams burst together.
	burstStreams = 256
	// warmBursts are not measured, because buffers grow and caches fill.
	warmBursts = 20
)

// A burstJob lets one client read bursts in the process that writes them. It fills every stream,
// and then measures the CPU time of reading them all: without the writing, and without other
// programs.
type burstJob struct {
	Client string
	Events int // in each write
	Bursts int
}

// A burstCost is the cost of reading.
type burstCost struct {
	CPU    []float64 // nanoseconds an event, for each burst, in ascending order
	Allocs float64   // objects allocated an event
}

// A reader reads bursts.
type reader interface {
	connect(addr net.Addr) error // opens one more stream
	expect(n int)                // announces how many events come next, before they are written
	consume() error              // returns once they have been read
}

func newReader(client string, addr net.Addr) (reader, error) {
	if client == bare || client == bareStamped {
		return newFloor(client == bareStamped)
	}
	return &crowd{send: senders[client]("http://" + addr.String()), records: client == recording, done: make(chan error, 1)}, nil
}

// run returns a burstCost.
func (j *burstJob) run() (any, error) {
	f, err := newFeeder(j.Events)
	if err != nil {
		return nil, err
	}
	r, err := newReader(j.Client, f.listener.Addr())
	if err != nil {
		return nil, err
	}
	for range burstStreams {
		if err := errors.Join(r.connect(f.listener.Addr()), f.accept()); err != nil {
			return nil, err
		}
	}
	if _, err := j.bursts(f, r, warmBursts); err != nil {
		return nil, err
	}
	return j.bursts(f, r, j.Bursts)
}

// bursts measures n bursts. Allocs is their median: sometimes the text of all streams outgrows its
// buffers.
func (j *burstJob) bursts(f *feeder, r reader, n int) (cost burstCost, err error) {
	events := burstStreams * j.Events
	var allocs []float64
	var before, after runtime.MemStats
	for tries := 0; len(allocs) < n; tries++ {
		r.expect(events)
		runtime.ReadMemStats(&before)
		if err := f.write(); err != nil {
			return cost, err
		}
		start := processTime()
		err := r.consume()
		took := processTime() - start
		runtime.ReadMemStats(&after)
		switch {
		case err == nil:
			cost.CPU = append(cost.CPU, float64(took)/float64(events))
			allocs = append(allocs, float64(after.Mallocs-before.Mallocs)/float64(events))
		case !errors.Is(err, errEarly) || tries > 2*n:
			return cost, err
		}
	}
	slices.Sort(cost.CPU)
	slices.Sort(allocs)
	cost.Allocs = metrics.Median(allocs)
	return cost, nil
}

// processTime is the CPU time that this process has used.
func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(fmt.Sprintf("clock_gettime: %v", err)) // Go only runs on Linux that has this clock
	}
	return time.Duration(t.Nano())
}

// errEarly says that a burst was read while it was still being written.
var errEarly = errors.New("events were read before they were all written")

// A crowd reads with a goroutine for each stream.
type crowd struct {
	send    engine.Sender
	records bool // as a run does: stamps go into a record, and events are counted for the live view
	seen    atomic.Int64
	before  int64        // events seen before the current burst
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
		for range c.counted(context.Background(), time.Now(), request, new(metrics.Record)) {
		}
	}()
	return nil
}

// counted is a Sender that counts events, and tells when all have been seen.
func (c *crowd) counted(ctx context.Context, epoch time.Time, req *engine.Request, rec *metrics.Record) iter.Seq2[engine.Chunk, error] {
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
