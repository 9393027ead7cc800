package host

import (
	"math"
	"runtime"
)

// Cores are how many cores this process can use at once: GOMAXPROCS, or less if the quota of its
// container gives it less. Go itself stays at 2 or more under a smaller quota, and a GOMAXPROCS in the
// environment may be more than there are.
func Cores() float64 {
	cores := float64(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	if given, known := quota(); known {
		cores = min(cores, given)
	}
	return cores
}

// WholeCores is Cores, rounded up.
func WholeCores() int { return int(math.Ceil(Cores())) }
