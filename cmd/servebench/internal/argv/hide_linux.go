package argv

import (
	"os"
	"strings"
	"unsafe"
)

// Hide writes over secrets in the memory in which this process was
// given its arguments, which all users of the machine can read at /proc/PID/cmdline
// and see in ps. The strings of os.Args lie there, so that nobody may have kept
// any of them but as a copy.
func Hide(secrets []string) {
	for _, arg := range os.Args[1:] {
		for _, secret := range secrets {
			for from := 0; ; {
				i := strings.Index(arg[from:], secret)
				if i < 0 {
					break
				}
				from += i
				letters := unsafe.Slice(unsafe.StringData(arg[from:]), len(secret))
				for j := range letters {
					letters[j] = 'x'
				}
				from += len(secret)
			}
		}
	}
}
