package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A reader takes lines when it may: each takes a send on its channel, unless that is
// closed.
type reader struct {
	may  chan struct{}
	mu   sync.Mutex
	took []string
}

func (r *reader) Write(line []byte) (int, error) {
	<-r.may
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, string(line))
	return len(line), nil
}

// numbered are n lines, each of which is one with its number.
func numbered(n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%04d %s\n", i, strings.Repeat("x", i%40)))
	}
	return lines
}

// give hands lines to a spool.
func give(t *testing.T, s *spool, lines []string) {
	t.Helper()
	for _, line := range lines {
		if n, err := s.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
}

// Lines wait in memory and then in a file, in which those that come later follow them
// until it is empty. None is lost, and none overtakes another.
func TestLinesWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{may: make(chan struct{})}
		s := newSpool(r)
		s.backlog.limit = 200
		lines := numbered(600)
		give(t, s, lines[:300])
		synctest.Wait()
		if s.backlog.file.empty() || s.backlog.size > s.backlog.limit {
			t.Errorf("%d bytes in memory, %d in the file", s.backlog.size, s.backlog.file.wrote)
		}
		for range 30 { // past those in memory, so that some of the file are there
			r.may <- struct{}{}
		}
		give(t, s, lines[300:500])
		close(r.may)
		synctest.Wait()
		if got := s.left(); got != 0 || !s.backlog.file.empty() {
			t.Errorf("%v are left, and %+v", got, &s.backlog.file)
		}
		give(t, s, lines[500:])
		<-s.finish()
		if !slices.Equal(r.took, lines) || s.written() != len(lines) || s.failed() != nil {
			t.Errorf("%d lines were taken, of %d: %v", len(r.took), len(lines), s.failed())
		}
	})
}

// Where the file can take no line, or no other one, memory takes them all.
func TestLinesWaitInMemoryWithoutAFile(t *testing.T) {
	for _, after := range []int{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			r := &reader{may: make(chan struct{})}
			s := newSpool(r)
			s.backlog.limit = 10
			lines := numbered(300)
			give(t, s, lines[:after])
			full := errors.New("no space left on device")
			s.backlog.file.err = full
			give(t, s, lines[after:200])
			if s.trouble() != full {
				t.Error(s.trouble())
			}
			close(r.may)
			synctest.Wait()
			give(t, s, lines[200:])
			<-s.finish()
			if !slices.Equal(r.took, lines) {
				t.Errorf("%d lines were taken, of %d", len(r.took), len(lines))
			}
		})
	}
}

// A line that is longer than what is read of the file at once comes whole, too.
func TestLongLineWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{may: make(chan struct{})}
		s := newSpool(r)
		s.backlog.limit = 1
		long := strings.Repeat("y", 3*overflowBatch) + "\n"
		lines := append(numbered(3), long, "last\n")
		give(t, s, lines)
		close(r.may)
		<-s.finish()
		if !slices.Equal(r.took, lines) {
			t.Errorf("%d lines were taken, of %d", len(r.took), len(lines))
		}
	})
}

// Nobody else can read what waits, and nothing is left of it by a program that is killed.
func TestWaitingFileIsPrivate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var o overflow
	if err := o.put([]byte("a secret\n")); err != nil {
		t.Fatal(err)
	}
	info, err := o.Stat()
	if err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Error(info.Mode(), err)
	}
	if runtime.GOOS != "windows" {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Error(left, err)
		}
	}
	o.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// Writing counts as blocked from when a line has waited for 100 ms until none has.
func TestBlockedTimeIsThatOfLateLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{may: make(chan struct{})}
		s := newSpool(r)
		s.backlog.limit = 8
		give(t, s, []string{"one\n"})
		time.Sleep(100 * time.Millisecond)
		r.may <- struct{}{} // just in time
		synctest.Wait()
		if got := s.behind(); got != 0 {
			t.Errorf("%v", got)
		}
		time.Sleep(time.Hour) // nothing waits
		give(t, s, []string{"two\n", "three\n", "four\n"})
		time.Sleep(3 * time.Second)
		if got := s.behind(); got != 2900*time.Millisecond {
			t.Errorf("%v after 3 s", got)
		}
		r.may <- struct{}{}
		time.Sleep(time.Second)
		if got := s.behind(); got != 3900*time.Millisecond {
			t.Errorf("%v after 4 s", got)
		}
		close(r.may)
		<-s.finish()
		time.Sleep(time.Hour)
		if got := s.behind(); got != 3900*time.Millisecond {
			t.Errorf("%v in the end", got)
		}
	})
}

// An error of the writer's is told with the next line, and ends it all.
func TestSpoolEndsWithAnError(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	s := newSpool(write)
	give(t, s, []string{"lost\n"})
	<-s.done
	if _, err := s.Write([]byte("not taken\n")); !errors.Is(err, s.failed()) || s.failed() == nil {
		t.Error(err, s.failed())
	}
	<-s.finish()
}

// readBy is a file of records whose reader is r.
func readBy(w io.Writer, talk io.Writer) *File {
	f := To(w)
	f.Say = func(format string, args ...any) { fmt.Fprintf(talk, format+"\n", args...) }
	return f
}

// Whoever reads the stream may be as slow as it likes, as long as it takes something.
// One that never comes back is given up, after ten minutes, or a while after Ctrl-C.
func TestReaderIsWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name    string
		reads   func(r *reader, interrupt func())
		took    time.Duration
		lost    string
		told    string
		waiting Waiting
	}{
		{"slow", func(r *reader, _ func()) {
			for range 3 {
				time.Sleep(9 * time.Minute)
				r.may <- struct{}{}
			}
		}, 27 * time.Minute, "", "3.0 KiB are not written yet; Ctrl-C stops waiting after 30s", Waiting{Drain: 30 * time.Second}},
		{"gone", func(r *reader, _ func()) { r.may <- struct{}{} }, 20 * time.Minute,
			"its reader took nothing for 10m0s: the last 2.0 KiB of it are lost", "waiting for the reader of the record stream", Waiting{Drain: 30 * time.Second}},
		{"interrupted", func(_ *reader, interrupt func()) { time.Sleep(time.Minute); interrupt() }, 90 * time.Second,
			"interrupted: the last 3.0 KiB of it are lost", "waiting for", Waiting{Drain: 30 * time.Second}},
		{"interrupted before", func(_ *reader, interrupt func()) { interrupt() }, time.Second,
			"interrupted: the last 3.0 KiB of it are lost", "", Waiting{}},
		{"interrupted, and comes back", func(r *reader, interrupt func()) {
			interrupt()
			time.Sleep(20 * time.Second)
			close(r.may)
		}, 20 * time.Second, "", "waiting for", Waiting{Drain: 30 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reader{may: make(chan struct{})}
				var talk strings.Builder
				f := readBy(r, &talk)
				line := strings.Repeat("x", 1023) + "\n"
				give(t, f.spool, []string{line, line, line})
				ctx, interrupt := context.WithCancel(t.Context())
				test.waiting.Context = ctx
				began := time.Now()
				go test.reads(r, interrupt)
				f.End(test.waiting)
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if said := fmt.Sprint(f.broken); f.broken == nil != (test.lost == "") || !strings.Contains(said, test.lost) {
					t.Errorf("lost: %v", f.broken)
				}
				if !strings.Contains(talk.String(), test.told) {
					t.Errorf("told: %q", &talk)
				}
				select {
				case <-r.may:
				default:
					close(r.may)
				}
				<-f.finish()
			})
		})
	}
}

// Lines that gather are written at once: the first, and after 40 ms those that came meanwhile.
func TestLinesGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{may: make(chan struct{})}
		close(r.may)
		s := newSpool(r)
		s.backlog.gathers = true
		lines := numbered(8)
		give(t, s, lines[:1])
		synctest.Wait()
		give(t, s, lines[1:4])
		time.Sleep(gatherFor - 1)
		give(t, s, lines[4:5])
		r.mu.Lock()
		if len(r.took) != 1 {
			t.Errorf("%q before it was time", r.took)
		}
		r.mu.Unlock()
		time.Sleep(time.Hour)
		give(t, s, lines[5:6])
		synctest.Wait()
		give(t, s, lines[6:])
		began := time.Now()
		<-s.finish()
		want := []string{lines[0], strings.Join(lines[1:5], ""), lines[5], lines[6] + lines[7]}
		if !slices.Equal(r.took, want) || time.Since(began) != 0 {
			t.Errorf("%q, want %q; the end took %v", r.took, want, time.Since(began))
		}
		if s.behind() != 0 || s.left() != 0 {
			t.Errorf("behind by %v, %v left", s.behind(), s.left())
		}
	})
}

// What gathers waits in the temporary file as single lines do, and in order.
func TestGatheredLinesWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{may: make(chan struct{})}
		s := newSpool(r)
		s.backlog.gathers, s.backlog.limit = true, 500
		lines := append(numbered(3000), strings.Repeat("y", 3*gatherBytes)+"\n")
		give(t, s, lines[:2000])
		close(r.may)
		synctest.Wait()
		give(t, s, lines[2000:])
		<-s.finish()
		if got := strings.Join(r.took, ""); got != strings.Join(lines, "") || len(r.took) > 100 {
			t.Errorf("%d bytes in %d pieces", len(got), len(r.took))
		}
	})
}

// What a compressed file has is whole after each call of Write, and zstd reads it in the end.
func TestCompressedLinesAreThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		f := To(&out)
		f.Compress()
		lines := numbered(400)
		read := func() string {
			d, err := zstd.NewReader(bytes.NewReader(out.Bytes()), zstd.WithDecoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			text, _ := io.ReadAll(d) // the frame is not complete yet
			return string(text)
		}
		for i := range lines {
			give(t, f.spool, lines[i:i+1])
			time.Sleep(gatherFor)
			synctest.Wait()
			if got, want := read(), strings.Join(lines[:i+1], ""); got != want {
				t.Fatalf("%d bytes after %d lines", len(got), i+1)
			}
		}
		if err := f.Close(Waiting{}); err != nil {
			t.Fatal(err)
		}
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		text, err := d.DecodeAll(out.Bytes(), nil)
		if err != nil || string(text) != strings.Join(lines, "") {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}

// A new frame begins after some text, and nothing is written for a file without lines.
func TestFramesEnd(t *testing.T) {
	var out bytes.Buffer
	p := newPacker(&out)
	if err := p.end(); err != nil || out.Len() > 0 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for range 9 {
		if _, err := p.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte{0x28, 0xb5, 0x2f, 0xfd}); n != 3 {
		t.Errorf("%d frames", n)
	}
	broken := newPacker(fullDisk{})
	if _, err := broken.Write(line); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("no space left on device")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
