package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestCollectionsChangeOnceTheHeapIsLarge(t *testing.T) {
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
	Small(large)
	if percent() != 100 {
		t.Errorf("a heap of less than %d bytes grows by %d %%, want 100", large, percent())
	}
	heap := make([]byte, 2*large)
	for percent() != 10 && t.Context().Err() == nil { // the cleanup runs some time after a collection
		runtime.GC()
	}
	runtime.KeepAlive(heap)
}
