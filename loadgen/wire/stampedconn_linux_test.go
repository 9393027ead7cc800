package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

func TestReadingEndsAsItDoesWithoutStamps(t *testing.T) {
	started := func(conn net.Conn) (<-chan error, func()) {
		done := make(chan error, 1)
		return done, func() { _, err := conn.Read(make([]byte, 8)); done <- err }
	}
	for _, test := range []struct {
		name string
		read func(client net.Conn, server *net.TCPConn) (int, error)
		want error
	}{
		{"bytes, then the end", func(client net.Conn, server *net.TCPConn) (int, error) {
			_, _ = server.Write([]byte("hello"))
			server.Close()
			text, err := io.ReadAll(client)
			return len(text), err
		}, nil},
		{"the end", func(client net.Conn, server *net.TCPConn) (int, error) {
			server.Close()
			return client.Read(make([]byte, 8))
		}, io.EOF},
		{"reset", func(client net.Conn, server *net.TCPConn) (int, error) {
			_ = server.SetLinger(0)
			server.Close()
			return client.Read(make([]byte, 8))
		}, syscall.ECONNRESET},
		{"a deadline that has passed", func(client net.Conn, server *net.TCPConn) (int, error) {
			_, _ = server.Write([]byte("hello"))
			_ = client.SetReadDeadline(time.Unix(1, 0))
			return client.Read(make([]byte, 8))
		}, os.ErrDeadlineExceeded},
		{"a deadline while it waits", func(client net.Conn, _ *net.TCPConn) (int, error) {
			done, read := started(client)
			go read()
			_ = client.SetDeadline(time.Unix(1, 0))
			return 0, <-done
		}, os.ErrDeadlineExceeded},
		{"closed while it waits", func(client net.Conn, _ *net.TCPConn) (int, error) {
			done, read := started(client)
			go read()
			client.Close()
			return 0, <-done
		}, net.ErrClosed},
		{"closed before", func(client net.Conn, _ *net.TCPConn) (int, error) {
			client.Close()
			return client.Read(make([]byte, 8))
		}, net.ErrClosed},
		{"nothing asked for", func(client net.Conn, _ *net.TCPConn) (int, error) {
			return client.Read(nil)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			plain, server := echo(t)
			wantN, want := test.read(plain, server)
			client, server := echo(t)
			stamped := stamp(client, askForStamps)
			if stamped.kernel == nil {
				t.Skip("this kernel refuses SO_TIMESTAMPNS")
			}
			n, err := test.read(stamped, server)
			if n != wantN || !errors.Is(err, test.want) || saidOf(err, client) != saidOf(want, plain) {
				t.Errorf("%d bytes, %q; without stamps %d, %q", n, saidOf(err, client), wantN, saidOf(want, plain))
			}
		})
	}
}

// saidOf is the text of an error of conn without its addresses.
func saidOf(err error, conn net.Conn) string {
	if err == nil {
		return ""
	}
	return strings.NewReplacer(conn.LocalAddr().String(), "near", conn.RemoteAddr().String(), "far").Replace(err.Error())
}

func TestBytesAreNotOlderThanTheReadThatFoundNone(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name                        string
		emptied                     bool // by the read before, which was stamped at 10 ms
		now, age                    time.Duration
		wantAt, wantAge, wantOldest time.Duration
	}{
		{"young", true, 50 * ms, 5 * ms, 45 * ms, 5 * ms, 10 * ms},
		{"as old as can be", true, 50 * ms, 40 * ms, 10 * ms, 40 * ms, 10 * ms},
		{"the clock was set forward", true, 50 * ms, time.Hour, 10 * ms, 40 * ms, 10 * ms},
		{"some had been left", false, 50 * ms, 45 * ms, 5 * ms, 45 * ms, 2 * ms},
		{"not stamped", true, 50 * ms, unstamped, 50 * ms, unstamped, 10 * ms},
	} {
		c := &stampedConn{kernel: new(kernelReader), last: 10 * ms, floor: 2 * ms, emptied: test.emptied}
		c.note(test.now, test.age)
		at, age, oldest := time.Duration(c.at.Load()), time.Duration(c.age.Load()), time.Duration(c.oldest.Load())
		if at != test.wantAt || age != test.wantAge || oldest != test.wantOldest {
			t.Errorf("%s: at %v, age %v, oldest %v; want %v, %v, %v", test.name, at, age, oldest, test.wantAt, test.wantAge, test.wantOldest)
		}
	}
}

// The kernel may join what came one after the other under the newest stamp, and
// a short read then gives bytes that are older, and leaves some that are.
func TestNoByteIsOlderThanItsReadSays(t *testing.T) {
	needKernelStamps(t)
	client, server := echo(t)
	conn := stamp(client, askForStamps)
	const part, parts = 100, 8
	var came [parts]time.Time // no later than that
	for i := range came {
		if _, err := server.Write(make([]byte, part)); err != nil {
			t.Fatal(err)
		}
		for unread(t, client) < (i+1)*part {
			runtime.Gosched()
		}
		came[i] = time.Now()
	}
	for read := 0; read < part*parts; {
		n, err := conn.Read(make([]byte, part*3/2))
		if err != nil {
			t.Fatal(err)
		}
		a := conn.newest()
		if oldest := a.taken().Add(-a.Reach); oldest.After(came[read/part]) {
			t.Errorf("byte %d is at least %v older than its read says", read, oldest.Sub(came[read/part]))
		}
		read += n
	}
}

func TestReadingWithStampsDoesNotAllocate(t *testing.T) {
	client, server := echo(t)
	conn := stamp(client, askForStamps)
	in, out := make([]byte, 100), make([]byte, 64)
	allocs := testing.AllocsPerRun(1000, func() {
		if _, err := server.Write(out); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(in); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a read", allocs)
	}
}

func TestStampsThatTheKernelRefusesAreTakenHere(t *testing.T) {
	client, server := echo(t)
	conn := stamp(client, func(uintptr) error { return unix.ENOPROTOOPT })
	if _, err := server.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if a := conn.newest(); a.kernel || a.At.Before(before) {
		t.Errorf("%+v, read after %v", a, before)
	}
}

// unread is how many bytes lie in the socket.
func unread(t *testing.T, conn syscall.Conn) (n int) {
	control(t, conn, func(fd int) {
		var err error
		if n, err = unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil {
			t.Error(err)
		}
	})
	return n
}

// needKernelStamps keeps a socket open that asks for stamps, and returns once it
// gets them: the kernel begins with them a moment after the first socket asked.
func needKernelStamps(t *testing.T) {
	t.Helper()
	client, server := echo(t)
	conn := stamp(client, askForStamps)
	if conn.kernel == nil {
		t.Skip("this kernel refuses SO_TIMESTAMPNS")
	}
	for range 1_000_000 {
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if conn.newest().kernel {
			return
		}
	}
	t.Fatal("the kernel took SO_TIMESTAMPNS and gives no stamps")
}

// echo is a pair of connections over loopback.
func echo(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var near, far net.Conn
	var group errgroup.Group
	group.Go(func() (err error) { far, err = listener.Accept(); return err })
	near, err = net.Dial("tcp", listener.Addr().String())
	if err == nil {
		err = group.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near.(*net.TCPConn), far.(*net.TCPConn)
}

// control runs f on the descriptor of conn.
func control(t *testing.T, conn syscall.Conn, f func(fd int)) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The timer of an earlier wait may fire so late that its wake meets the next wait.
func TestALateWakeLeavesNoDeadline(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client := stamp(dialled, askForStamps)
	client.Await(func() bool {
		client.kernel.wake()
		return true
	})
	if _, err := server.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if n, err := client.Read(make([]byte, 8)); n != 5 || err != nil {
		t.Errorf("the read after the wait returned %d bytes, %v", n, err)
	}
}
