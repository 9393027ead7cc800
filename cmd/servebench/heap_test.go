package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestSmallHeapChangesCollectionsOnceTheHeapIsLarge(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	read := func(name string) uint64 {
		sample := []metrics.Sample{{Name: name}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	percent := func() uint64 { return read("/gc/gogc:percent") }
	smallHeap()
	if heap := read("/memory/classes/heap/objects:bytes"); heap < largeHeap && percent() != 100 { // other tests may hold more
		t.Errorf("a heap of %d bytes grows by %d %%, want 100", heap, percent())
	}
	large := make([]byte, 2*largeHeap)
	grown := eventually(func() bool { runtime.GC(); return percent() == 10 })
	runtime.KeepAlive(large)
	if !grown {
		t.Errorf("a large heap grows by %d %%, want 10", percent())
	}
}
