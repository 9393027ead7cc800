package wire

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDescriptorsAreRaisedOrMissed runs itself in processes whose limit it
// lowers: one that may raise it again, and one that may not.
func TestDescriptorsAreRaisedOrMissed(t *testing.T) {
	const hard, low, some, many = 300, 100, 200, 1000
	if os.Getenv("LOADGEN_TEST_SOCKETS") != "" {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: low, Max: hard}); err != nil {
			t.Fatal(err)
		}
		if err := CheckSockets(some); err != nil {
			t.Errorf("within the hard limit: %v", err)
		}
		err := CheckSockets(many)
		if os.Getuid() == 0 && err == nil {
			return
		}
		if err == nil || !strings.Contains(err.Error(), "1000 requests at once need 1064 file descriptors and the limit is 300") {
			t.Errorf("beyond it: %v", err)
		}
		for _, c := range []Connections{{}, {Socket: "s"}, {HTTP2: true}} {
			if err := c.Transport().CheckSockets(many); (err == nil) != c.HTTP2 {
				t.Errorf("%+v: %v", c, err)
			}
		}
		return
	}
	users := []uint32{uint32(os.Getuid())}
	if users[0] == 0 {
		users = append(users, 65534)
	}
	for _, user := range users {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestDescriptorsAreRaisedOrMissed$", "-test.v")
		cmd.Dir, cmd.Env = "/", append(os.Environ(), "LOADGEN_TEST_SOCKETS=1")
		if user != uint32(os.Getuid()) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as user %d: %v\n%s", user, err, out)
		}
	}
}

func TestAUnixSocketNeedsNoPorts(t *testing.T) {
	const beyond = 70_000 // more than there can be
	if err := checkPorts(beyond); err == nil || !strings.Contains(err.Error(), "70000 requests at once need as many local ports") {
		t.Skip("the ports cannot be counted:", err)
	}
	if err := checkFiles(beyond); err != nil {
		t.Skip("too few descriptors to tell:", err)
	}
	if err := (Connections{}).Transport().CheckSockets(beyond); err == nil {
		t.Error("TCP has ports enough")
	}
	if err := (Connections{Socket: "s"}).Transport().CheckSockets(beyond); err != nil {
		t.Error(err)
	}
}
