//go:build !linux

package host

import "time"

// coreWait is how long threads of this process had no core: not known here.
func coreWait() time.Duration { return 0 }
