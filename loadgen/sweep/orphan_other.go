//go:build unix && !linux

package sweep

import (
	"os"
	"os/exec"
	"syscall"
)

// adopt does nothing: orphans are init's on this system.
func adopt() {}

// dieWithParent does nothing: this system has no such thing.
func dieWithParent(*exec.Cmd) {}

// members are the groups of those that were started here. What has left its
// group is not found on this system.
func (f *family) members() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var groups []int
	for _, g := range f.groups {
		if syscall.Kill(-g, 0) != syscall.ESRCH {
			groups = append(groups, -g)
		}
	}
	f.groups = f.groups[:0]
	for _, g := range groups {
		f.groups = append(f.groups, -g)
	}
	return groups
}

// gone says whether no member is left.
func (f *family) gone() bool { return f.childless() && len(f.members()) == 0 }

// endOrphans does nothing: the orphans of a holder that was killed are init's.
func (b *brood) endOrphans() {}

// endLeft does nothing: this system does not show who has the mark.
func endLeft(*os.File) {}
