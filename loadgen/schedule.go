package loadgen

import (
	"iter"
	"time"
)

// A Schedule yields when each conversation is due, as an offset from the start
// of the run. It cannot see the server, so a slow server cannot slow it down. A
// nil Schedule starts a conversation whenever a slot is free (closed loop).
type Schedule iter.Seq[time.Duration]
