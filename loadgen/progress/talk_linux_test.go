package progress

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no pseudo terminals:", err)
	}
	t.Cleanup(func() { main.Close() })
	fd := int(main.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A dumb terminal shows control characters instead of obeying them, so it has plain lines.
func TestADumbTerminalHasNoLinesThatAreRewritten(t *testing.T) {
	talk := NewTalk(terminal(t))
	for kind, want := range map[string]bool{"xterm": true, "dumb": false} {
		t.Setenv("TERM", kind)
		if got := talk.rewritable(); got != want {
			t.Errorf("TERM=%s: %v", kind, got)
		}
	}
}
