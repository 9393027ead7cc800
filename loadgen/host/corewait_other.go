//go:build !linux

package host

import "time"

// coreWait is unknown on this system.
func coreWait() time.Duration { return 0 }
