//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package elastic

import (
	"errors"
	"fmt"
)

// A file is not there on this system.
type file struct{}

func create(path string) (*file, error) {
	return nil, fmt.Errorf("the file of the pool %s: %w: it needs locks as Linux has them", path, errors.ErrUnsupported)
}

func (*file) write(State) error { return nil }

func (*file) remove() error { return nil }
