//go:build !linux && !darwin

package preflight

// freeDisk is not known on this system.
func freeDisk(string) (bytes int64, known bool) { return 0, false }
