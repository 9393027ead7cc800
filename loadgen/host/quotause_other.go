//go:build !linux

package host

import "time"

// A quotaUse is known on Linux only.
type quotaUse struct{}

func readQuota() quotaUse { return quotaUse{} }

// used works on Linux only: there is no quota.
func (*quotaUse) used() (cores float64, throttled time.Duration) { return 0, 0 }
