package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Three threads that wait for 10 ms at the same time do not stop the process for 30 ms.
func TestTheLongestWaitIsOfOneThread(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, waited time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, fmt.Appendf(nil, "7 %d 1\n", waited), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := coreWait{threads: map[string]*thread{}}
	defer c.close()
	for _, name := range []string{"a", "b", "c"} {
		f, err := os.Open(write(name, 500))
		if err != nil {
			t.Fatal(err)
		}
		c.threads[name] = &thread{file: f, waited: 500}
	}
	write("a", 510)
	write("b", 512)
	write("c", 510)
	if got := c.longest(); got != 12 {
		t.Errorf("the longest wait is %d, want 12", got)
	}
	if got := c.longest(); got != 0 {
		t.Errorf("the longest wait is %d of threads that ran on", got)
	}
}
