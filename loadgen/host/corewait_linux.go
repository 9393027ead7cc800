package host

import (
	"os"
	"path/filepath"
	"time"
)

// coreWait is how long threads of this process could have run and had no core, all that
// live together: others had them, or a limit of its container had been reached. It is 0
// where the kernel does not tell.
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
