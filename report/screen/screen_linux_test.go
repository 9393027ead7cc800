package screen

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal of so many columns.
func terminal(t *testing.T, columns uint16) *os.File {
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
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestATerminalHasItsWidthAndColoursUnlessTheyAreNotWanted(t *testing.T) {
	for name, c := range map[string]struct {
		noColor, term string
		columns       uint16
		want          Screen
	}{
		"usual":            {"", "xterm", 80, Screen{80, true, true}},
		"wide":             {"", "xterm", 200, Screen{200, true, true}},
		"colours unwanted": {"1", "xterm", 120, Screen{120, false, true}},
		"dumb":             {"", "dumb", 80, Screen{80, false, false}},
		"unknown width":    {"", "xterm", 0, Screen{80, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NO_COLOR", c.noColor)
			t.Setenv("TERM", c.term)
			if got := Of(terminal(t, c.columns)); got != c.want || got.Readable() != min(got.Width, 120) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
