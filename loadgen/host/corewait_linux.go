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
	threads map[string]*thread // by their files' names
	text    [64]byte
}

// A thread is one of this process.
type thread struct {
	file   *os.File
	waited time.Duration // in its life, when it was last read
}

// refresh finds the threads that live now.
func (c *coreWait) refresh() {
	names, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return
	}
	before := c.threads
	c.threads = map[string]*thread{}
	for _, name := range names {
		if t := before[name]; t != nil {
			c.threads[name] = t
		} else if f, err := os.Open(name); err == nil { // or the thread has ended
			c.threads[name] = &thread{file: f}
			c.advance(c.threads[name])
		}
		delete(before, name)
	}
	for _, t := range before {
		t.file.Close()
	}
}

// longest is the longest wait of a thread since it was last read, by longest or refresh. Threads
// that wait at the same time delay the process only once.
func (c *coreWait) longest() (waited time.Duration) {
	for _, t := range c.threads {
		waited = max(waited, c.advance(t))
	}
	return waited
}

// advance reads a thread's wait. It returns by how much it grew, 0 if the thread has ended.
func (c *coreWait) advance(t *thread) time.Duration {
	n, _ := t.file.ReadAt(c.text[:], 0)
	if n == 0 {
		return 0
	}
	before := t.waited
	t.waited = parseCoreWait(c.text[:n])
	return t.waited - before
}

func (c *coreWait) close() {
	for _, t := range c.threads {
		t.file.Close()
	}
}
