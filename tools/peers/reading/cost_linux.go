package reading

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/metrics/numpy"
)

// A Cost is what reading costs.
type Cost struct {
	CPU    []float64 // nanoseconds an event, for each reading, in ascending order
	Allocs float64   // objects allocated an event
}

// readings measures n readings of so many events. Fill, if not nil, writes them first, and a reading that began too
// early does not count. Allocs is a median: sometimes the text of all streams outgrows its buffers.
func readings(r reader, n, events int, fill func() error) (cost Cost, err error) {
	var allocs []float64
	var before, after runtime.MemStats
	for tries := 0; len(allocs) < n; tries++ {
		r.expect(events)
		runtime.ReadMemStats(&before)
		if fill != nil {
			if err := fill(); err != nil {
				return cost, err
			}
		}
		start := processTime()
		err := r.consume()
		took := processTime() - start
		runtime.ReadMemStats(&after)
		early := errors.Is(err, errEarly)
		switch {
		case err == nil || early && fill == nil:
			cost.CPU = append(cost.CPU, float64(took)/float64(events))
			allocs = append(allocs, float64(after.Mallocs-before.Mallocs)/float64(events))
		case !early || tries > 2*n:
			return cost, err
		}
	}
	slices.Sort(cost.CPU)
	slices.Sort(allocs)
	cost.Allocs = numpy.Median(allocs)
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

// BurstStreams is how many streams burst together.
const BurstStreams = 256

// warmBursts are not measured, because buffers grow and caches fill.
const warmBursts = 20

// Burst lets a client read so many bursts of so many events of each stream in the process that writes them. It fills
// every stream, and then measures the CPU time of reading them all: without the writing, and without other programs.
func Burst(client string, events, bursts int) (Cost, error) {
	f, err := newFeeder(events)
	if err != nil {
		return Cost{}, err
	}
	defer f.listener.Close()
	r, err := newReader(client, f.listener.Addr())
	if err != nil {
		return Cost{}, err
	}
	for range BurstStreams {
		if err := errors.Join(r.connect(f.listener.Addr()), f.accept()); err != nil {
			return Cost{}, err
		}
	}
	if _, err := readings(r, warmBursts, BurstStreams*events, f.write); err != nil {
		return Cost{}, err
	}
	return readings(r, bursts, BurstStreams*events, f.write)
}

const (
	// liveStreams are open at once.
	liveStreams = 512
	// liveEvents is how many events of each stream make one measurement.
	liveEvents = 25
)

// Live lets a client read 512 streams as they come from a server in another process, and measures so many times. Unlike
// in a burst, the client waits between events, and its caches forget some of each stream meanwhile.
func Live(client string, server net.Addr, times int) (Cost, error) {
	r, err := newReader(client, server)
	if err != nil {
		return Cost{}, err
	}
	for range liveStreams {
		if err := r.connect(server); err != nil {
			return Cost{}, err
		}
	}
	if _, err := readings(r, 1, liveStreams*liveEvents, nil); err != nil { // while streams start
		return Cost{}, err
	}
	return readings(r, times, liveStreams*liveEvents, nil)
}
