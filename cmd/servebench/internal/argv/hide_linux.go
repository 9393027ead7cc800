package argv

import (
	"os"
	"strings"
	"unsafe"
)

// Hide overwrites secrets in the memory of this process's arguments, which all users of the machine
// can read at /proc/PID/cmdline and see in ps. The strings of os.Args are in that memory, so keep
// only copies of them.
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
