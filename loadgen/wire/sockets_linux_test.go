package wire

import (
	"net"
	"net/netip"
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

func TestASocketBeginsToConnectEarly(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Skipf("%s: %v", address, err)
		}
		defer listener.Close()
		again := unix.EINPROGRESS // what a second call finds
		dialer := net.Dialer{Control: func(network, to string, socket syscall.RawConn) error {
			if err := connectEarly(network, to, socket); err != nil {
				return err
			}
			for again = unix.EALREADY; again == unix.EALREADY; {
				again = connectAgain(t, socket, to)
			}
			return nil
		}}
		conn, err := dialer.Dial("tcp", listener.Addr().String())
		if err != nil || again != 0 { // it is connected
			t.Fatalf("%s: %v, a second call found %v", address, err, again)
		}
		conn.Close()
	}
}

// connectAgain is what connect says about a socket on which it was called before.
func connectAgain(t *testing.T, socket syscall.RawConn, to string) (errno syscall.Errno) {
	at := netip.MustParseAddrPort(to)
	var address unix.Sockaddr = &unix.SockaddrInet4{Port: int(at.Port()), Addr: [4]byte{127, 0, 0, 1}}
	if at.Addr().Is6() {
		address = &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	if err := socket.Control(func(fd uintptr) { errno, _ = unix.Connect(int(fd), address).(syscall.Errno) }); err != nil {
		t.Error(err)
	}
	return errno
}

// A name and a Unix socket are nothing to connect to.
func TestOnlyAnAddressIsConnectedEarly(t *testing.T) {
	for _, address := range []string{"/tmp/socket", "server.test:80", "[fe80::1%lo]:80"} {
		if err := connectEarly("tcp", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
