package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestSmallHeapChangesCollectionsOnceTheHeapIsLarge(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	percent := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC() // what other tests have dropped
	var held runtime.MemStats
	runtime.ReadMemStats(&held)
	large := 2 * held.HeapAlloc
	smallHeap(large)
	if percent() != 100 {
		t.Errorf("a heap of less than %d bytes grows by %d %%, want 100", large, percent())
	}
	heap := make([]byte, 2*large)
	grown := eventually(func() bool { runtime.GC(); return percent() == 10 })
	runtime.KeepAlive(heap)
	if !grown {
		t.Errorf("a large heap grows by %d %%, want 10", percent())
	}
}
