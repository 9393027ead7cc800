package host

import (
	"os"
	"path/filepath"
	"time"
)

// coreWait is how long the live threads of this process were ready to run and had no core: others
// used the cores, or the container's limit was reached. It is 0 if the kernel does not say.
func coreWait() (waited time.Duration) {
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil { // or the thread has ended
			waited += parseCoreWait(string(text))
		}
	}
	return waited
}
