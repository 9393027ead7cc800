// Package samples says what a server, its GPUs and its pool of memory reported at moments of a run.
//
// A Sample is one moment, as a line of a stream has it. Processes tells samples of one process from samples of several,
// and Totals are what a server added up between two looks.
package samples

import (
	"time"
	"unsafe"

	"github.com/servebench/servebench/metrics/gpu"
)

// A Sample is what a server and its GPUs reported at one moment of a run. What they did not report
// is nil.
type Sample struct {
	// From is the URL of the replica, if the plan names replicas.
	From   string        `json:"from,omitempty"`
	At     time.Duration `json:"at"`               // when it was requested, from the start of the run
	Took   time.Duration `json:"took,omitempty"`   // time until the answer came
	Server *Server       `json:"server,omitempty"` // from /metrics, summed over engines
	GPUs   []GPU         `json:"gpus,omitempty"`   // what each GPU was doing
	Pool   *Pool         `json:"pool,omitempty"`   // kvcached's pool of a server
	Error  string        `json:"error,omitempty"`  // why something is missing
}

// Size is the bytes that a kept s takes, with the numbers that it points to.
func (s *Sample) Size() int {
	n := int(unsafe.Sizeof(*s)) + len(s.GPUs)*2*int(unsafe.Sizeof(GPU{})) + len(s.Error)
	if s.Server != nil {
		n += 2 * int(unsafe.Sizeof(*s.Server))
	}
	if s.Pool != nil {
		n += int(unsafe.Sizeof(*s.Pool))
	}
	return n
}

// A Server is what a server's /metrics reported, summed over its engines. Counters count from
// the server's start.
type Server struct {
	Running *float64 `json:"running,omitempty"` // requests in the batch
	Waiting *float64 `json:"waiting,omitempty"` // requests waiting to be admitted
	// KVCache is the share of the KV cache in use, 0 to 1: the mean over engines.
	KVCache     *float64 `json:"kv_cache,omitempty"`
	Preemptions *float64 `json:"preemptions,omitempty"` // counter of preempted requests
	// PrefixQueries counts the prompt tokens looked up in the prefix cache, and PrefixHits
	// those found there.
	PrefixQueries *float64 `json:"prefix_queries,omitempty"`
	PrefixHits    *float64 `json:"prefix_hits,omitempty"`
	Generated     *float64 `json:"generated,omitempty"` // counter of output tokens
	// Blocks is the size of the KV cache in blocks, of all engines. Under kvcached it is a bound
	// on addresses, not on memory.
	Blocks *float64 `json:"kv_blocks,omitempty"`
	// Start is when the process started, or its first counter was made, in seconds of Unix
	// time.
	Start *float64 `json:"start,omitempty"`
}

// A GPU is what one GPU was doing.
type GPU struct {
	Index       int      `json:"index"`                  // number of the GPU
	MemoryUsed  *float64 `json:"memory_used,omitempty"`  // memory in use, MiB
	MemoryTotal *float64 `json:"memory_total,omitempty"` // all its memory, MiB
	Utilization *float64 `json:"utilization,omitempty"`  // share of time with a kernel running, 0 to 1
	Power       *float64 `json:"power,omitempty"`        // power, W
	// Reasons are why its clocks were below their most, as a bitmask.
	Reasons *gpu.Reasons `json:"reasons,omitempty"`
	Energy  *float64     `json:"energy,omitempty"` // counter of energy taken, J
}

// A Pool is the state of a server's elastic pool of GPU memory for KV cache, as kvcached
// publishes it. In a Sample with an Error, only the Name is known.
type Pool struct {
	// Name is its KVCACHED_IPC_NAME.
	Name string `json:"name"`
	// Limit is how much the server may use, in bytes.
	Limit int64 `json:"limit"`
	// Used is what pages with KV cache take, in bytes.
	Used int64 `json:"used"`
	// Prealloc is what mapped pages without KV cache take, in bytes. It is not a part of Used.
	Prealloc int64 `json:"prealloc"`
}

// Held is the GPU memory that the pool takes, in bytes.
func (p *Pool) Held() int64 { return p.Used + p.Prealloc }
