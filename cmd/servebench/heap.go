package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// largeHeap is the size from which smallHeap matters, in bytes.
const largeHeap = 16 << 20

// smallHeap lets the heap grow by a tenth between collections instead of doubling once it is large. A
// million requests are a few slices of numbers, which cost a collection nothing. Most reports end before,
// and collections at every tenth of a few megabytes would take longer than such a report.
func smallHeap() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Uint64() >= largeHeap {
		debug.SetGCPercent(10)
		return
	}
	// The next collection calls the cleanup of an object that nothing holds.
	runtime.AddCleanup(new([]byte), func(struct{}) { smallHeap() }, struct{}{})
}
