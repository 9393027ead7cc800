package kvcache_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
)

// Two sequences have the same prompt of two blocks. The second finds the first block: the last token
// of a prompt is always computed.
func Example() {
	cache := kvcache.New(100, true)
	prompt := make([]int, 2*kvcache.BlockSize)
	for range 2 {
		h := &kvcache.Holding{Blocks: kvcache.Hashes(prompt)}
		found, room := cache.Admit(h, len(prompt), len(prompt))
		fmt.Println(found, room)
		cache.Keep(h, len(prompt))
		cache.Free(h)
	}
	// Output:
	// 0 true
	// 16 true
}
