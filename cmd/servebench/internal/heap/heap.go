// Package heap chooses how much the heap grows between collections of garbage.
//
// Go lets a heap double before it collects again. That is the right choice for small heaps, and for heaps of
// many pointers. Commands that read recordings hold few and large objects, and memory is what they lack first.
package heap

import (
	"runtime"
	"runtime/debug"
)

// Large is a heap with a million requests in it, in bytes.
const Large = 16 << 20

// Small lets a heap of so many bytes or more grow by a tenth between collections instead of doubling.
// A million requests are a few slices of numbers, which cost a collection nothing. Most reports need no
// large heap, and would collect a small one again and again.
func Small(large uint64) {
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc >= large {
		debug.SetGCPercent(10)
		return
	}
	// The cleanup of an object that nothing holds follows the next collection.
	runtime.AddCleanup(new([]byte), Small, large)
}
