//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// How often to try for a lock that a writer has, and how long to wait between two tries.
const (
	lockTries = 50
	lockPause = time.Millisecond
)

// readLocked reads a file under a shared lock.
func readLocked(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Unwrap(err) // which has the path
	}
	defer f.Close()
	for try := 0; ; try++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if try == lockTries {
			return nil, fmt.Errorf("its lock was not free within %v: %w", lockTries*lockPause, err)
		}
		time.Sleep(lockPause)
	}
	return io.ReadAll(io.LimitReader(f, poolBytes+1))
}

// ofGroup matches the name that kvcached makes up. It has the id of a process group.
var ofGroup = regexp.MustCompile(`^kvcached_[A-Za-z]+_(\d+)(_\d+)?$`)

// owned reports whether a living process has the pool: by its process group, by its environment or
// as an open file. If that cannot be known, the answer is yes.
func (k KVCached) owned() bool {
	if m := ofGroup.FindStringSubmatch(k.Name); m != nil {
		group, err := strconv.Atoi(m[1])
		return err != nil || !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
	}
	var file syscall.Stat_t
	paths, err := k.paths()
	if err != nil || syscall.Stat(paths[0], &file) != nil || int(file.Uid) != os.Getuid() && os.Getuid() != 0 {
		return true // of another user
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		if k.named(process) || has(process, &file) {
			return true
		}
	}
	return err != nil || processes == nil
}

// named reports whether another process has the name of the pool in its environment.
func (k KVCached) named(process string) bool {
	if process == fmt.Sprintf("/proc/%d", os.Getpid()) {
		return false
	}
	env, err := os.ReadFile(process + "/environ")
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00KVCACHED_IPC_NAME="+k.Name+"\x00"))
}

// has reports whether a process has the file open.
func has(process string, file *syscall.Stat_t) bool {
	open, err := filepath.Glob(process + "/fd/*")
	if err != nil {
		return false
	}
	for _, path := range open {
		var other syscall.Stat_t
		if syscall.Stat(path, &other) == nil && other.Dev == file.Dev && other.Ino == file.Ino {
			return true
		}
	}
	return false
}
