package host

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Family is processes that belong together: some known ones, the others in their process groups,
// and all that these have started. The group of this process does not count: a script that started
// both may have started anything.
type Family struct {
	fs     procFS
	known  []int
	groups []int
}

// FamilyOf is the family of these processes; those that are 0 are unknown.
func FamilyOf(pids ...int) Family { return procFS("/proc").family(os.Getpid(), pids) }

func (fs procFS) family(self int, pids []int) Family {
	f := Family{fs: fs, known: slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return pid == 0 })}
	_, own, _ := fs.parentage(self)
	for _, pid := range f.known {
		if _, group, there := fs.parentage(pid); there && group != own {
			f.groups = append(f.groups, group)
		}
	}
	return f
}

// has reports whether a process is in the family, and whether that is known: this machine may hide the
// process, or one that it descends from, as of another user.
func (f Family) has(pid int) (member, known bool) { return f.finds(pid, map[int]lineage{}) }

// A lineage is the parent and the process group of a process.
type lineage struct {
	parent, group int
	there         bool
}

// finds is has. Processes have the same ancestors: read keeps what it has read about each.
func (f Family) finds(pid int, read map[int]lineage) (member, known bool) {
	for at := pid; at > 0; {
		of, ok := read[at]
		if !ok {
			of.parent, of.group, of.there = f.fs.parentage(at)
			read[at] = of
		}
		switch {
		case !of.there:
			return false, false
		case slices.Contains(f.known, at) || slices.Contains(f.groups, of.group):
			return true, true
		}
		at = of.parent
	}
	return false, true
}

// members are the processes of the family that run now, without this process.
func (f Family) members() (pids []int) {
	if len(f.known) == 0 {
		return nil
	}
	all, _ := os.ReadDir(string(f.fs)) // of what is not there, no process runs
	read := map[int]lineage{}
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if member, _ := f.finds(pid, read); member {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cpuOf is the CPU time that the processes have used, in user space and in the kernel. Those that have ended
// count no more.
func cpuOf(pids []int) (used time.Duration) {
	for _, pid := range pids {
		used += procFS("/proc").used(pid)
	}
	return used
}

// used is the CPU time of a process: utime and stime of its stat, in hundredths of a second.
func (fs procFS) used(pid int) time.Duration {
	stat := fs.read(strconv.Itoa(pid), "stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime = 11, 12 // after the name
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.ParseInt(fields[utime], 10, 64) // the kernel writes numbers
	system, _ := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * (time.Second / 100)
}

// Began reports whether a process of the family began at that time. Workers of a server begin later than
// the process that listens for them, and a proxy is no part of the server's family.
func (f Family) Began(at time.Time) bool {
	all, _ := os.ReadDir(string(f.fs)) // of what is not there, no process began
	booted := f.fs.booted()
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		ticks := f.fs.started(entry.Name())
		if apart := began(booted, ticks).Sub(at).Abs(); ticks == 0 || apart > clockSlack {
			continue
		}
		if member, _ := f.has(pid); member {
			return true
		}
	}
	return false
}

// programOf is the name of a process's program, cut to 15 bytes; empty if it is unknown.
func programOf(pid int) string { return procFS("/proc").program(pid) }

func (fs procFS) program(pid int) string {
	return strings.TrimSpace(string(fs.read(strconv.Itoa(pid), "comm")))
}

// Environment is the environment with which a process started, as NAME=VALUE; empty if this user
// may not see it.
func Environment(pid int) []string { return procFS("/proc").environment(pid) }

func (fs procFS) environment(pid int) []string {
	return strings.FieldsFunc(string(fs.read(strconv.Itoa(pid), "environ")), func(r rune) bool { return r == 0 })
}

// parentage is the parent of a process and its process group.
func (fs procFS) parentage(pid int) (parent, group int, there bool) {
	stat := fs.read(strconv.Itoa(pid), "stat")
	// The name of the program, in brackets, may hold anything. State, parent and group follow.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 3 {
		return 0, 0, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	return parent, group, err1 == nil && err2 == nil
}
