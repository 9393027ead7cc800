//go:build !linux

package host

import "time"

// A coreWait knows nothing on this system.
type coreWait struct{}

func (*coreWait) refresh()               {}
func (*coreWait) longest() time.Duration { return 0 }
func (*coreWait) close()                 {}
