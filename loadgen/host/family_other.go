//go:build !linux

package host

import "time"

// A Family is known on Linux only.
type Family struct{}

// FamilyOf works on Linux only: no process is known to be in the family.
func FamilyOf(...int) Family { return Family{} }

// has works on Linux only: both results are false.
func (Family) has(int) (member, known bool) { return false, false }

// members works on Linux only: no process is known.
func (Family) members() []int { return nil }

// cpuOf works on Linux only: no time is known.
func cpuOf([]int) time.Duration { return 0 }

// Began works on Linux only: no process is known to have begun.
func (Family) Began(time.Time) bool { return false }

// programOf works on Linux only: the result is empty.
func programOf(int) string { return "" }

// Environment works on Linux only: the result is empty.
func Environment(int) []string { return nil }
