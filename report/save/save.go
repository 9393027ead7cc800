// Package save writes files that are whole or not there: result files, pages and pictures that
// other programs may be waiting for.
package save

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Append appends to a file of JSON lines. As in vLLM, the line end comes before the object if the
// file already has one.
func Append(name string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := Restrict(f, mode); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		if _, err := f.WriteString("\n"); err != nil {
			return err
		}
	}
	if err := write(f); err != nil {
		// A torn object would make later lines unreadable.
		return errors.Join(err, f.Truncate(info.Size()))
	}
	return f.Sync()
}

// Create writes a file under a name that no other has yet: two runs may end in
// the same second. The name begins with stem, which it returns with the number
// that made it free, and ends with extension.
func Create(stem, extension string, mode os.FileMode, write func(io.Writer) error) (string, error) {
	free := stem
	for n := 2; ; n++ {
		f, err := os.OpenFile(free+extension, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err == nil {
			f.Close()
			err = Replace(free+extension, mode, write)
			if info, lost := os.Stat(free + extension); lost == nil && info.Size() == 0 {
				os.Remove(free + extension) // the name is only a placeholder
			}
			return free, err
		}
		if !errors.Is(err, os.ErrExist) {
			return free, err
		}
		free = fmt.Sprintf("%s-%d", stem, n)
	}
}

// Replace writes a file under a Temporary name, and then renames it, so that it appears whole or
// not at all. It follows links, and writes directly to what is not a plain file.
func Replace(name string, mode os.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	random := make([]byte, 4)
	rand.Read(random)
	temp := filepath.Join(filepath.Dir(name), strings.Replace(Temporary, "*", hex.EncodeToString(random), 1))
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return &os.PathError{Op: "create", Path: name, Err: errors.Unwrap(err)}
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	return syncFolder(filepath.Dir(name))
}

// syncFolder makes a name in a folder durable, if folders can be synced.
func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return nil // it may be one that can be written but not read
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) && runtime.GOOS != "windows" {
		return err
	}
	return nil
}

// Temporary is the pattern of the names of incomplete files.
const Temporary = ".servebench-*"

// Restrict removes permissions of other users from an existing file, if mode gives them none: texts
// go in. Pipes and devices stay as they are.
func Restrict(f *os.File, mode os.FileMode) error {
	info, err := f.Stat()
	if err != nil || mode&0o077 != 0 || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return f.Chmod(mode)
}
