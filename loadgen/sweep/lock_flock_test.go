//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sweep

import (
	"strings"
	"testing"
)

func TestTwoSweepsDoNotShareAFolder(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "seed: 1")
	j := journal(t, dir, p)
	asked := 0
	_, err := OpenJournal(dir, p, func() bool { asked++; return asked < 3 })
	if err == nil || !strings.Contains(err.Error(), "another sweep is running there") || asked != 3 {
		t.Errorf("%v after %d tries", err, asked)
	}
	again, err := OpenJournal(dir, p, func() bool { j.Close(); return true })
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
