package host

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestListenerIsThisProcess(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s o.sock")
	addresses := map[string]string{}
	for network, address := range map[string]string{"tcp4": "127.0.0.1:0", "unix": socket} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses[network] = l.Addr().String()
	}
	_, port, _ := net.SplitHostPort(addresses["tcp4"])
	ids := map[string]bool{}
	for _, c := range [][2]string{{"tcp", "127.0.0.1:" + port}, {"tcp", "localhost:" + port}, {"unix", socket}} {
		p, known := Listener(c[0], c[1])
		if !known || p.PID != os.Getpid() || p.ID == "" {
			t.Errorf("%s: %+v, %v, want this process", c, p, known)
		}
		ids[p.ID] = true
		if age := time.Since(p.Began); age < -2*time.Second || age > time.Hour {
			t.Errorf("%s: it started %v ago", c, age)
		}
	}
	if len(ids) != 1 {
		t.Errorf("one process has the ids %v", ids)
	}
	for _, c := range [][2]string{{"tcp", "127.0.0.1:1"}, {"tcp", "10.0.0.1:" + port}, {"tcp", "127.0.0.2:" + port}, {"tcp", "nowhere"}, {"tcp", "127.0.0.1:x"}, {"unix", socket + "x"}} {
		if p, known := Listener(c[0], c[1]); known {
			t.Errorf("%s: %+v listens", c, p)
		}
	}
}

// In this tree, 7 is a server with the worker 5, whose number is lower because all were used, and with the
// worker 30, which has just ended; 8 listens at one address only.
func TestListenerIsTheOldestHolderOfTheSocket(t *testing.T) {
	words := func(ip string) string {
		raw := netip.MustParseAddr(ip).AsSlice()
		text := ""
		for i := 0; i < len(raw); i += 4 {
			text += nativeWord(raw[i : i+4])
		}
		return text
	}
	const rest = " 00000000:00000000 00:00000000 00000000  1000        0 "
	row := func(ip, port, state, inode string) string {
		return "   0: " + words(ip) + ":" + port + " " + words(strings.Repeat("0:", 7) + "0")[:len(words(ip))] + ":0000 " + state + rest + inode + " 1 0 100 0 0 10 0\n"
	}
	files := map[string]string{
		"stat":                      "cpu 1\nbtime 1700000000\n",
		"sys/kernel/random/boot_id": "b00t\n",
		"net/tcp":                   "sl local\n" + row("0.0.0.0", "1F40", "0A", "100") + row("127.0.0.1", "1F41", "0A", "200") + row("0.0.0.0", "1F41", "0A", "100") + row("127.0.0.1", "1F42", "01", "100"),
		"net/tcp6":                  "sl local\n" + row("::", "1F43", "0A", "100") + row("::1", "1F44", "0A", "200") + row("::ffff:127.0.0.1", "1F45", "0A", "200") + "torn",
		"net/unix":                  "Num\nffff: 00000002 00000000 00010000 0001 01 100 /run/a b.sock\nffff: 00000003 00000000 00000000 0001 03 200 /run/a b.sock\n",
		"7/stat":                    "7 (api) server) (x) S 1 7 7 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 250 1 1\n",
		"8/stat":                    "8 (one) S 1 7 7 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 100 1 1\n",
		"5/stat":                    "5 (worker) S 1 7 7 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 900 1 1\n",
		"30/stat":                   "30 (gone",
	}
	fs := procFS(t.TempDir())
	for name, text := range files {
		path := filepath.Join(string(fs), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for pid, link := range map[string]string{"7": "socket:[100]", "5": "socket:[100]", "30": "socket:[100]", "8": "socket:[200]"} {
		dir := filepath.Join(string(fs), pid, "fd")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"/dev/null", link} {
			if err := os.Symlink(to, filepath.Join(dir, to[len(to)-3:len(to)-1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	server := Process{ID: "b00t-250-7", PID: 7, Began: time.Unix(1700000002, 500e6)}
	other := Process{ID: "b00t-100-8", PID: 8, Began: time.Unix(1700000001, 0)}
	for _, c := range []struct {
		network, address string
		want             Process
	}{
		{"tcp", "127.0.0.1:8000", server}, {"tcp", "LOCALHOST:8000", server}, {"tcp", "127.0.0.1:8001", other},
		{"tcp", "127.0.0.1:8002", Process{}}, {"tcp", "[::1]:8003", server}, {"tcp", "127.0.0.1:8003", server},
		{"tcp", "[::1]:8004", other}, {"tcp", "localhost:8004", other}, {"tcp", "127.0.0.1:8005", other},
		{"tcp", "192.168.0.1:8000", Process{}}, {"unix", "/run/a b.sock", server}, {"unix", "/run/a", Process{}},
	} {
		if p, known := fs.listener(c.network, c.address); p != c.want || known != (c.want.PID > 0) {
			t.Errorf("%s %s: %+v, want %+v", c.network, c.address, p, c.want)
		}
	}
	if p, known := procFS(filepath.Join(string(fs), "none")).listener("tcp", "127.0.0.1:8000"); known {
		t.Errorf("without /proc: %+v", p)
	}
}

// nativeWord is how the kernel writes a word of an address.
func nativeWord(word []byte) string { return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(word)) }
