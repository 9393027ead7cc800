package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A network is a network namespace, and a thread that is in it. It ends with the last process in
// it. Nil is the machine's network.
type network struct{ todo chan func() }

// network makes a network for the stage.
func (s *Stage) network() (*network, error) {
	n := &network{make(chan func())}
	entered := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if entered <- err; err != nil {
			return
		}
		for do := range n.todo {
			do()
		}
	}()
	if err := <-entered; errors.Is(err, unix.EPERM) {
		return nil, errMissing("making a network namespace is not permitted")
	} else if err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	s.later(func() { close(n.todo) })
	return n, n.do(func() error { return up("lo", netip.Prefix{}) })
}

// do calls f in the network. Processes that f starts are in it, too.
func (n *network) do(f func() error) error {
	if n == nil {
		return f()
	}
	done := make(chan error)
	n.todo <- func() { done <- f() }
	return <-done
}

// device makes a TUN device with an address in the network: what is sent to it can be read from the
// file, and what is written to the file arrives.
func (n *network) device(address netip.Prefix) (file *os.File, err error) {
	err = n.do(func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return errMissing(fmt.Sprintf("/dev/net/tun: %v", err))
		}
		const name = "link"
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
			unix.Close(fd)
			return fmt.Errorf("making a TUN device: %w", err)
		}
		file = os.NewFile(uintptr(fd), name)
		return up(name, address)
	})
	return file, err
}

// up gives a device of this thread's network an address, if there is one, and switches it on.
func up(name string, address netip.Prefix) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if address.IsValid() {
		mask := [4]byte{255, 255, 255, 0}
		for _, set := range []struct {
			how  uint
			what []byte
		}{{unix.SIOCSIFADDR, address.Addr().AsSlice()}, {unix.SIOCSIFNETMASK, mask[:]}} {
			if err := request.SetInet4Addr(set.what); err != nil {
				return err
			}
			if err := unix.IoctlIfreq(fd, set.how, request); err != nil {
				return fmt.Errorf("giving %s an address: %w", name, err)
			}
		}
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// A packet is in transit.
type packet struct {
	due  time.Time
	data []byte
}

// carry moves packets from one device to another after a delay, and loses one in lose, none if lose
// is 0. It returns when a device is closed.
func carry(to, from *os.File, delay time.Duration, lose int) {
	way := make(chan packet, 4096)
	go func() {
		for p := range way {
			time.Sleep(time.Until(p.due))
			_, _ = to.Write(p.data) // a link may lose packets
		}
	}()
	defer close(way)
	data := make([]byte, 2048)
	for i := 1; ; i++ {
		n, err := from.Read(data)
		if err != nil {
			return
		}
		if lose == 0 || i%lose != 0 {
			way <- packet{time.Now().Add(delay), append([]byte(nil), data[:n]...)}
		}
	}
}
