package sweep

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of orphans among its descendants, so that
// it can wait for them, too. Without it they are init's.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dieWithParent has cmd's process killed when the thread that starts it ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// members are all descendants of this process, also those that have left the
// group in which they were started, or the session.
func (f *family) members() []int {
	self := os.Getpid()
	return descendants(func(k kin) bool { return k.parent == self })
}

// gone says whether no member is left: an orphan would be this process's child.
func (f *family) gone() bool { return f.childless() }

// A kin is a process as the system lists it.
type kin struct{ id, parent, session int }

// descendants are the processes for which root holds, and what they started.
func descendants(root func(kin) bool) []int {
	all := everyone()
	var found []int
	for again := true; again; {
		again = false
		all = slices.DeleteFunc(all, func(k kin) bool {
			ours := root(k) || slices.Contains(found, k.parent)
			if ours {
				found, again = append(found, k.id), true
			}
			return ours
		})
	}
	return found
}

// everyone lists all processes, as proc(5) has them.
func everyone() []kin {
	var all []kin
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		// The name, in brackets, may hold anything; state, parent, group and session follow.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if err != nil || len(fields) < 4 {
			continue
		}
		parent, err1 := strconv.Atoi(string(fields[1]))
		session, err2 := strconv.Atoi(string(fields[3]))
		if err1 == nil && err2 == nil {
			all = append(all, kin{id, parent, session})
		}
	}
	return all
}

// endOrphans ends what a holder has left behind that was killed, or broke down: the
// children of this process that are of another session and no holders. The caller
// has b.mu.
func (b *brood) endOrphans() {
	self := os.Getpid()
	session, err := unix.Getsid(self)
	if err != nil {
		return
	}
	endAll(func(k kin) bool { return k.parent == self && k.session != session && !b.holders[k.id] })
}

// endLeft ends what an earlier sweep has left behind that was killed together with
// its holders. To be called by who has the lock, before anything is started.
func endLeft(lock *os.File) {
	mark := mark(lock)
	if slices.Contains(os.Environ(), mark) {
		return
	}
	endAll(func(k kin) bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", k.id))
		return err == nil && slices.Contains(strings.Split(string(text), "\x00"), mark)
	})
}

// endAll ends the processes for which root holds, and what they started.
func endAll(root func(kin) bool) {
	for until := time.Now().Add(settle); time.Now().Before(until); time.Sleep(pause) {
		found := descendants(root)
		if len(found) == 0 {
			return
		}
		for _, id := range found {
			syscall.Kill(id, syscall.SIGKILL)
		}
		for _, id := range found {
			syscall.Wait4(id, nil, syscall.WNOHANG, nil)
		}
	}
}
