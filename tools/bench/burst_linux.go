package main

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
)

// Beside the clients: the bare reading that they are compared with, without and
// with the kernel's stamps.
const (
	bare        = "floor"
	bareStamped = "floor+stamp"
)

// warmBursts are not measured: buffers grow, caches fill.
const warmBursts = 20

// A burstJob lets one client read bursts in the process that writes them: every
// stream is filled, and then the CPU time of reading them all is taken. Nothing
// else is in it, neither the writing nor what other programs do meanwhile.
type burstJob struct {
	Client  string
	Streams int
	Events  int // in each write
	Bursts  int
	Profile string // file for a CPU profile; empty for none
}

// A burstCost is what reading cost.
type burstCost struct {
	CPU    []float64 // nanoseconds an event, for each burst
	Allocs float64   // objects allocated an event
	Others float64   // CPU time that others took of all CPUs, in CPUs
}

// A reader of bursts.
type reader interface {
	connect(tokens int) error // opens one more stream
	expect(n int)             // says before they are written how many events come next
	consume() error           // returns once they have been read
}

func newReader(client string, addr netip.AddrPort) (reader, error) {
	if client == bare || client == bareStamped {
		return newFloor(addr, client == bareStamped)
	}
	s, err := newStream(client, "http://"+addr.String())
	return &crowd{stream: s, done: make(chan error, 1)}, err
}

func (j burstJob) run() (any, error) {
	f, err := newFeeder(j.Streams, j.Events)
	if err != nil {
		return nil, err
	}
	r, err := newReader(j.Client, f.addr)
	if err != nil {
		return nil, err
	}
	for range j.Streams {
		if err := r.connect(1 << 30); err != nil {
			return nil, err
		}
		if err := f.accept(); err != nil {
			return nil, err
		}
	}
	if _, err := j.bursts(f, r, warmBursts); err != nil {
		return nil, err
	}
	stop, err := profile(j.Profile)
	if err != nil {
		return nil, err
	}
	defer stop()
	before, err := usageOf("cpu")
	if err != nil {
		return nil, err
	}
	costs, err := j.bursts(f, r, j.Bursts)
	if err != nil {
		return nil, err
	}
	after, err := usageOf("cpu")
	if err != nil {
		return nil, err
	}
	_, others := after.since(before)
	allocs, err := j.allocs(f, r)
	return burstCost{CPU: costs, Others: others, Allocs: allocs}, err
}

// allocs is how many objects are allocated an event, as the median of some bursts:
// now and then the text of all streams outgrows its buffers.
func (j burstJob) allocs(f *feeder, r reader) (float64, error) {
	const bursts = 15
	counts := make([]float64, bursts)
	var before, after runtime.MemStats
	for i := range counts {
		runtime.ReadMemStats(&before)
		if _, err := j.bursts(f, r, 1); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
		counts[i] = float64(after.Mallocs-before.Mallocs) / float64(j.Streams*j.Events)
	}
	return median(counts), nil
}

// bursts gives what each of n bursts cost, in nanoseconds of CPU time an event.
func (j burstJob) bursts(f *feeder, r reader, n int) ([]float64, error) {
	events := j.Streams * j.Events
	costs := make([]float64, 0, n)
	for tries := 0; len(costs) < n; tries++ {
		r.expect(events)
		if err := f.write(); err != nil {
			return nil, err
		}
		start := processTime()
		err := r.consume()
		took := processTime() - start
		switch {
		case err == nil:
			costs = append(costs, float64(took)/float64(events))
		case !errors.Is(err, errEarly) || tries > 2*n:
			return nil, err
		}
	}
	return costs, nil
}

// profile writes a CPU profile until stop is called. An empty name writes none.
func profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		file.Close()
	}, nil
}

// errEarly says that a burst was being read while it was still being written.
var errEarly = errors.New("events were read before they were all written")

// A crowd reads with a goroutine for each stream.
type crowd struct {
	stream stream
	seen   atomic.Int64
	before int64        // of them, those seen when more were expected
	until  atomic.Int64 // consume ends when so many have been seen
	done   chan error
}

func (c *crowd) connect(tokens int) error {
	go func() {
		if err := c.stream(context.Background(), tokens, c.see); err != nil {
			c.done <- err
		}
	}()
	return nil
}

func (c *crowd) see(arrival) {
	if c.seen.Add(1) == c.until.Load() {
		c.done <- nil
	}
}

func (c *crowd) expect(n int) {
	c.before = c.seen.Load()
	c.until.Store(c.before + int64(n))
}

func (c *crowd) consume() error {
	early := c.seen.Load() != c.before
	if err := <-c.done; err != nil {
		return err
	}
	if early {
		return errEarly
	}
	return nil
}
