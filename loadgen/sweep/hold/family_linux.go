package hold

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of orphans among its descendants, so that it can find them
// and wait for them. Without it, init becomes their parent.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// setGroup puts cmd into a separate process group, and makes the kernel kill it when the thread
// that starts it ends.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// members are all descendants of this process, in any process group and session.
func (f *family) members() []int {
	self := os.Getpid()
	return descendants(func(p process) bool { return p.parent == self })
}

// A process is a line of the process table.
type process struct{ id, parent, session int }

// descendants are the processes for which root is true, and all that they have started.
func descendants(root func(process) bool) []int {
	all := processes()
	var found []int
	for before := -1; before < len(found); {
		before = len(found)
		for _, p := range all {
			if !slices.Contains(found, p.id) && (root(p) || slices.Contains(found, p.parent)) {
				found = append(found, p.id)
			}
		}
	}
	return found
}

// processes lists all processes; see proc(5). filepath.Glob would list the folder of each.
func processes() []process {
	var all []process
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name in brackets may hold anything. State, parent, group and session follow.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 4 {
			continue
		}
		parent, err1 := strconv.Atoi(fields[1])
		session, err2 := strconv.Atoi(fields[3])
		if err1 == nil && err2 == nil {
			all = append(all, process{id, parent, session})
		}
	}
	return all
}

// endOrphans ends what a killed or crashed holder left: children of this process that are in
// another session and are not holders.
func endOrphans(holders map[int]bool) {
	self := os.Getpid()
	session, err := unix.Getsid(self)
	if err != nil {
		return
	}
	endAll(func(p process) bool { return p.parent == self && p.session != session && !holders[p.id] })
}

// endLeft ends all processes with the mark of a lock. This process must hold the lock.
func endLeft(lock *os.File) {
	mark := mark(lock)
	if slices.Contains(os.Environ(), mark) {
		return
	}
	endAll(func(p process) bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.id))
		return err == nil && slices.Contains(strings.Split(string(text), "\x00"), mark)
	})
}

// endAll kills the processes for which root is true, and all that they have started.
func endAll(root func(process) bool) {
	for until := time.Now().Add(Settle); time.Now().Before(until); time.Sleep(pause) {
		found := descendants(root)
		if len(found) == 0 {
			return
		}
		for _, id := range found {
			syscall.Kill(id, syscall.SIGKILL)
			syscall.Wait4(id, nil, syscall.WNOHANG, nil)
		}
	}
}
