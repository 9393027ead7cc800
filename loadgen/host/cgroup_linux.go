package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// A cgroup is the folder of a control group that this process is in, or of a group around it.
// docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1 describe the files.
type cgroup struct {
	folder string
	v2     bool
}

// cgroupsOf are the groups that can limit what a controller, such as memory, gives to the process whose
// folder in proc is self: its own and all around it that are visible. There are none where no cgroup is
// mounted.
func cgroupsOf(proc, controller string) (all []cgroup) {
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return nil
	}
	self, err := fs.Self()
	if err != nil {
		return nil
	}
	memberships, _ := self.Cgroups() // none if it fails
	mounts, _ := self.MountInfo()    // likewise
	for _, m := range mounts {
		_, controls := m.SuperOptions[controller]
		v2 := m.FSType == "cgroup2"
		if !v2 && (m.FSType != "cgroup" || !controls) {
			continue
		}
		at := slices.IndexFunc(memberships, func(c procfs.Cgroup) bool {
			return v2 && c.HierarchyID == 0 || !v2 && slices.Contains(c.Controllers, controller)
		})
		if at < 0 {
			continue
		}
		for folder := within(m, memberships[at].Path); ; folder = filepath.Dir(folder) {
			all = append(all, cgroup{folder, v2})
			if folder == m.MountPoint {
				break
			}
		}
	}
	return all
}

// within is the folder of a group under a mount. A container often sees its own group as the mount's
// root, while the name of the group is the host's or begins with /..
func within(m *procfs.MountInfo, group string) string {
	below, err := filepath.Rel(m.Root, group)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return m.MountPoint
	}
	folder := filepath.Join(m.MountPoint, below)
	if _, err := os.Stat(folder); err != nil {
		return m.MountPoint
	}
	return folder
}

// number is one of the numbers in a file of the group; not known for max, and where the file is missing,
// as in a root.
func (c cgroup) number(name string, at int) (n int64, known bool) {
	text, err := os.ReadFile(filepath.Join(c.folder, name))
	fields := strings.Fields(string(text))
	if err != nil || at >= len(fields) {
		return 0, false
	}
	n, err = strconv.ParseInt(fields[at], 10, 64)
	return n, err == nil
}

// stat is a value in a file that has a name and a number a line; 0 without it.
func (c cgroup) stat(file, name string) int64 {
	text, err := os.ReadFile(filepath.Join(c.folder, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}

// memory are the limits of the group. Cached files that nobody reads now are not counted as used: the
// kernel drops them first.
func (c cgroup) memory() (all []memoryBound) {
	limits, usage, cached := []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	if c.v2 {
		limits, usage, cached = []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	}
	for _, name := range limits {
		if most, known := c.number(name, 0); known {
			used, _ := c.number(usage, 0) // which is there where the limit is
			all = append(all, memoryBound{filepath.Join(c.folder, name), most, used - c.stat("memory.stat", cached)})
		}
	}
	return all
}

// cores are how many cores the group's CPU quota gives it.
func (c cgroup) cores() (n float64, known bool) {
	quota, limited := c.number("cpu.max", 0)
	period, _ := c.number("cpu.max", 1) // which is there where the quota is
	if !c.v2 {
		quota, limited = c.number("cpu.cfs_quota_us", 0)
		period, _ = c.number("cpu.cfs_period_us", 0)
	}
	return float64(quota) / float64(max(period, 1)), limited && quota > 0 && period > 0
}
