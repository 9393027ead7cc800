//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package elastic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// A file publishes a pool as kvcached does: limit, used and prealloc as three integers of 8 bytes in
// the machine's order, written under an exclusive lock. A nil *file publishes nothing.
type file struct{ *os.File }

// create makes the file. It takes none that is there, which may be another server's.
func create(path string) (*file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		err = fmt.Errorf("%w: if its server was killed, delete the file", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the file of the pool: %w", err)
	}
	return &file{f}, nil
}

func (f *file) write(s State) error {
	if f == nil {
		return nil
	}
	var text []byte
	for _, n := range []int64{s.Limit, s.Used, s.Prealloc} {
		text = binary.NativeEndian.AppendUint64(text, uint64(n))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking the file of the pool: %w", err)
	}
	_, err := f.WriteAt(text, 0)
	return errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}

func (f *file) remove() error {
	if f == nil {
		return nil
	}
	return errors.Join(os.Remove(f.Name()), f.Close())
}
