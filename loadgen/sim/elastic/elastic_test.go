package elastic

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A diary is the states of a pool as text: when since the start, and pages used+spare.
type diary struct {
	start time.Time
	lines []string
}

func (d *diary) note(s State) {
	d.lines = append(d.lines, fmt.Sprintf("%v %d+%d", s.At.Sub(d.start), s.Used>>20, s.Prealloc>>20))
}

// 10 pages of 4 blocks and 1 MiB, 1 to 3 of them spare.
var small = Model{Pages: 10, Blocks: 4, MiB: 1, Least: 1, Most: 3, Map: 5 * time.Millisecond, Unmap: 2 * time.Millisecond}

func open(t *testing.T, m *Memory, d *diary) *Pool {
	t.Helper()
	p, err := m.Open("", d.note)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func use(t *testing.T, p *Pool, blocks int, took time.Duration, ok bool) {
	t.Helper()
	if got, fits := p.Use(blocks); got != took || fits != ok {
		t.Errorf("%d blocks: %v and %t, want %v and %t", blocks, got, fits, took, ok)
	}
}

func TestPagesMoveByTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := diary{start: time.Now()}, diary{start: time.Now()}
		m := NewMemory(small)
		pa := open(t, m, &a)
		time.Sleep(20 * time.Millisecond) // 3 spare pages after 15 ms
		use(t, pa, 17, 2*small.Map, true) // 5 pages: 3 spare, 2 to map
		time.Sleep(20 * time.Millisecond)
		use(t, pa, 20, 0, true) // still 5 pages
		pb := open(t, m, &b)    // 2 pages are left
		time.Sleep(20 * time.Millisecond)
		use(t, pb, 9, 0, false) // 3 pages, of which there are 2
		use(t, pb, 8, 0, true)
		use(t, pa, 0, 0, true) // 8 spare pages, of which 5 are too many
		time.Sleep(30 * time.Millisecond)
		if err := pa.Close(); err != nil {
			t.Error(err)
		}
		use(t, pb, 40, 5*small.Map, true) // all
		pb.Close()
		synctest.Wait()
		want := []string{"0s 0+0", "5ms 0+1", "10ms 0+2", "15ms 0+3", "20ms 5+0", "25ms 5+1", "30ms 5+2", "35ms 5+3",
			"60ms 0+8", "62ms 0+7", "64ms 0+6", "66ms 0+5", "68ms 0+4", "70ms 0+3"}
		if !slices.Equal(a.lines, want) {
			t.Errorf("a: %q, want %q", a.lines, want)
		}
		// b begins to fill again as soon as a returns a page.
		want = []string{"40ms 0+0", "45ms 0+1", "50ms 0+2", "60ms 2+0", "67ms 2+1", "72ms 2+2", "77ms 2+3", "90ms 10+0"}
		if !slices.Equal(b.lines, want) {
			t.Errorf("b: %q, want %q", b.lines, want)
		}
	})
}

func TestFileHasTheStateAndGoesWithThePool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	m := NewMemory(Model{Pages: 3, Blocks: 1, MiB: 2})
	p, err := m.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	use(t, p, 2, 0, true)
	text, err := os.ReadFile(path)
	if err != nil || len(text) != 24 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	for i, want := range []uint64{6 << 20, 4 << 20, 0} {
		if got := binary.NativeEndian.Uint64(text[8*i:]); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
	if _, err := m.Open(path, nil); err == nil || !strings.Contains(err.Error(), "if its server was killed, delete the file") {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file is still there:", err)
	}
}

func TestModelIsReadFromAList(t *testing.T) {
	got, err := Parse("pages=48, blocks=24,mib=48,reserve=2-4,map=2ms,unmap=1ms")
	if want := (Model{48, 24, 48, 2, 4, 2 * time.Millisecond, time.Millisecond}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Parse("pages=7"); err != nil || got.Blocks != 64 || got.Most != 10 || got.Pages != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "blocks=1", "pages=0", "pages=x", "pages=5,reserve=3", "pages=5,reserve=4-3", "pages=5,map=1", "pages=5,pace=1"} {
		if m, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, m)
		}
	}
}
