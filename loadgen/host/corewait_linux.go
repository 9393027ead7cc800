package host

import (
	"os"
	"path/filepath"
	"time"
)

// A coreWait tells how long the threads of this process were ready to run and had no core:
// others used the cores, or the container's limit was reached. It keeps their files open, so
// that it can be read often. The zero coreWait knows no thread until refresh.
type coreWait struct {
	files map[string]*os.File
	text  [64]byte
}

// refresh finds the threads that live now.
func (c *coreWait) refresh() {
	names, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return
	}
	before := c.files
	c.files = map[string]*os.File{}
	for _, name := range names {
		if f := before[name]; f != nil {
			c.files[name] = f
		} else if f, err := os.Open(name); err == nil { // or the thread has ended
			c.files[name] = f
		}
		delete(before, name)
	}
	for _, f := range before {
		f.Close()
	}
}

// read is the wait so far, of the threads that refresh found and that live.
func (c *coreWait) read() (waited time.Duration) {
	for _, f := range c.files {
		if n, _ := f.ReadAt(c.text[:], 0); n > 0 {
			waited += parseCoreWait(c.text[:n])
		}
	}
	return waited
}

func (c *coreWait) close() {
	for _, f := range c.files {
		f.Close()
	}
}
