package main

import (
	"os"
	"strings"
	"unsafe"

	"github.com/servebench/servebench/loadgen"
)

// hideArguments writes over the secrets in the memory in which this process was
// given its arguments, which all users of the machine can read at /proc/PID/cmdline
// and see in ps. The strings of os.Args lie there, so that nobody may have kept
// any of them but as a copy.
func hideArguments(s loadgen.Secrets) {
	for _, arg := range os.Args[1:] {
		for _, secret := range s {
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
