//go:build linux || darwin

package preflight

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeDisk is how many bytes a user can write at a folder, or where it will be made.
func freeDisk(folder string) (bytes int64, known bool) {
	folder, err := filepath.Abs(folder)
	var s unix.Statfs_t
	for err == nil {
		if unix.Statfs(folder, &s) == nil {
			return int64(s.Bavail) * int64(s.Bsize), true
		}
		if filepath.Dir(folder) == folder {
			break
		}
		folder = filepath.Dir(folder)
	}
	return 0, false
}
