package host

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Listener is the process that listens at an address of the loopback interface, which is HOST:PORT,
// or, on the network unix, at the path of a socket. Of several it is the oldest: a server passes its
// socket on to its workers. It is unknown where this user may not look into that process.
func Listener(network, address string) (p Process, known bool) {
	return procFS("/proc").listener(network, address)
}

// A procFS is the folder of Linux's process information; see proc(5).
type procFS string

func (fs procFS) read(name ...string) []byte {
	text, _ := os.ReadFile(filepath.Join(append([]string{string(fs)}, name...)...))
	return text // what is not there says nothing
}

func (fs procFS) listener(network, address string) (oldest Process, known bool) {
	sockets := fs.sockets(network, address)
	if len(sockets) == 0 {
		return oldest, false
	}
	all, err := os.ReadDir(string(fs))
	if err != nil {
		return oldest, false
	}
	first := int64(0)
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || !fs.holds(entry.Name(), sockets) {
			continue
		}
		if ticks := fs.started(entry.Name()); ticks > 0 && (!known || ticks < first) {
			oldest, first, known = fs.process(pid, ticks), ticks, true
		}
	}
	return oldest, known
}

// sockets are the links to the sockets that listen at the address, as the files of a process show
// them. A socket at exactly this address has precedence over one at all addresses.
func (fs procFS) sockets(network, address string) map[string]bool {
	if network == "unix" {
		return fs.unixSockets(address)
	}
	host, port, err := net.SplitHostPort(address)
	at, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil {
		return nil
	}
	exact, wild := map[string]bool{}, map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		for local, inode := range fs.listening(table) {
			switch link := "socket:[" + inode + "]"; {
			case uint64(local.Port()) != at:
			case isHost(local.Addr(), host):
				exact[link] = true
			case local.Addr().IsUnspecified() && isLoopback(host):
				wild[link] = true
			}
		}
		if len(exact) > 0 {
			return exact
		}
	}
	return wild
}

// listening yields the addresses and inodes of the sockets of a table that listen. The kernel lists them before all
// others (proc_net_tcp in its documentation), of which a machine may have a hundred thousand.
func (fs procFS) listening(table string) iter.Seq2[netip.AddrPort, string] {
	return func(yield func(netip.AddrPort, string) bool) {
		file, err := os.Open(filepath.Join(string(fs), "net", table))
		if err != nil {
			return
		}
		defer file.Close()
		const listens = "0A"
		lines := bufio.NewScanner(file)
		for lines.Scan(); lines.Scan(); { // the first is the heading
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || fields[3] != listens {
				return
			}
			if local, ok := tableAddress(fields[1]); ok && !yield(local, fields[9]) {
				return
			}
		}
	}
}

// unixSockets are the sockets that listen at a path.
func (fs procFS) unixSockets(path string) map[string]bool {
	const accepts = 1 << 16 // __SO_ACCEPTCON
	found := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(fs.read("net", "unix")))
	for lines.Scan() {
		fields := strings.SplitN(strings.Join(strings.Fields(lines.Text()), " "), " ", 8)
		if len(fields) < 8 || fields[7] != path {
			continue
		}
		if flags, err := strconv.ParseUint(fields[3], 16, 32); err == nil && flags&accepts != 0 {
			found["socket:["+fields[6]+"]"] = true
		}
	}
	return found
}

// holds reports whether a process has one of the files open.
func (fs procFS) holds(pid string, links map[string]bool) bool {
	dir := filepath.Join(string(fs), pid, "fd")
	open, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1) // the process may end meanwhile
	for _, name := range names {
		if link, err := os.Readlink(filepath.Join(dir, name)); err == nil && links[link] {
			return true
		}
	}
	return false
}

// started is when a process started, in hundredths of a second since the machine did; 0 if it has
// ended. The name of the program, in brackets, may have blanks and brackets.
func (fs procFS) started(pid string) int64 {
	stat := fs.read(pid, "stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const at = 22 - 3 // the fields after the name begin with the third
	if len(fields) <= at {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[at], 10, 64)
	return ticks
}

// process is the process that started at that time.
func (fs procFS) process(pid int, ticks int64) Process {
	boot := strings.TrimSpace(string(fs.read("sys", "kernel", "random", "boot_id")))
	return Process{ID: fmt.Sprintf("%s-%d-%d", boot, ticks, pid), PID: pid, Began: began(fs.booted(), ticks)}
}

// booted is when the machine started; zero if that is unknown.
func (fs procFS) booted() time.Time {
	for line := range strings.Lines(string(fs.read("stat"))) {
		if since, ok := strings.CutPrefix(line, "btime "); ok {
			if seconds, err := strconv.ParseInt(strings.TrimSpace(since), 10, 64); err == nil {
				return time.Unix(seconds, 0)
			}
		}
	}
	return time.Time{}
}

// began is when a process started, so many hundredths of a second after the machine; zero if booted is.
func began(booted time.Time, ticks int64) time.Time {
	if booted.IsZero() {
		return booted
	}
	return booted.Add(time.Duration(ticks) * (time.Second / 100))
}
