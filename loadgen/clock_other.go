//go:build !linux

package loadgen

import "time"

// Clock is known on Linux alone: both are 0.
func Clock() (offset, bound time.Duration) { return 0, 0 }
