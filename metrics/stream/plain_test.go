package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/servebench/servebench/metrics"
)

// packed is lines as one frame of zstd, with a block for each, and where each block ends.
func packed(t testing.TB, lines ...string) (frame []byte, ends []int) {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	for _, line := range lines {
		_, wrote := w.Write([]byte(line))
		err = errors.Join(err, wrote, w.Flush())
		ends = append(ends, b.Len())
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), ends
}

var someLines = []string{"one\n", strings.Repeat("two ", 50_000) + "\n", "three\n"}

// Text and frames may follow each other in any way, and come in pieces of any size.
func TestFramesMayStandAnywhereInAText(t *testing.T) {
	whole := strings.Join(someLines, "")
	frame, _ := packed(t, someLines...)
	empty, _ := packed(t)
	for name, parts := range map[string][]string{
		"nothing": nil, "text": {whole}, "frame": {string(frame)}, "two frames": {string(frame), string(frame)},
		"mixed": {whole, string(frame), string(empty), whole, string(frame)}, "little text": {"a", string(frame), "b"},
	} {
		want := strings.NewReplacer(string(frame), whole, string(empty), "").Replace(strings.Join(parts, ""))
		for way, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "end with data": iotest.DataErrReader,
		} {
			got, err := io.ReadAll(plain(reader(strings.NewReader(strings.Join(parts, "")))))
			if err != nil || string(got) != want {
				t.Errorf("%s, %s: %v: %d bytes, want %d", name, way, err, len(got), len(want))
			}
		}
	}
}

// Wherever a frame is cut, its whole blocks and what follows it are read.
func TestACutFrameKeepsItsBlocks(t *testing.T) {
	lines := []string{"one\n", strings.Repeat("two ", 500) + "\n", "three\n"}
	frame, ends := packed(t, lines...)
	next, _ := packed(t, "next\n")
	for cut := 1; cut < len(frame); cut++ {
		have := ""
		for i, end := range ends {
			if end <= cut {
				have += lines[i]
			}
		}
		for name, rest := range map[string]string{"": "", "a frame": string(next)} {
			got, err := io.ReadAll(plain(strings.NewReader(string(frame[:cut]) + rest)))
			if err != nil || !strings.HasPrefix(string(got), have) {
				t.Errorf("cut at %d of %d, %s follows: %v, %q lacks %q", cut, len(frame), name, err, got, have)
			}
			if slices.Contains(ends, cut) && rest != "" && string(got) != have+"next\n" {
				t.Errorf("cut at %d: %q", cut, got)
			}
		}
	}
}

// A torn line at the end of a cut frame does not take the next line with it.
func TestANewLineBeginsAfterACutFrame(t *testing.T) {
	frame, ends := packed(t, "one\n", "half a li")
	got, err := io.ReadAll(plain(io.MultiReader(bytes.NewReader(frame[:ends[1]]), strings.NewReader("text\n"))))
	if err != nil || !strings.HasPrefix(string(got), "one\nhalf a li") || !strings.HasSuffix(string(got), "text\n") {
		t.Errorf("%v: %q", err, got)
	}
	got, err = io.ReadAll(plain(bytes.NewReader(slices.Concat(frame[:ends[1]], frame))))
	if err != nil || string(got) != "one\nhalf a li\none\nhalf a li" {
		t.Errorf("%v: %q", err, got)
	}
}

func TestErrorsOfReadingArePassedOn(t *testing.T) {
	frame, _ := packed(t, someLines...)
	broken := errors.New("broken")
	for _, part := range []int{0, 3, 10, len(frame) - 2} {
		_, err := io.ReadAll(plain(io.MultiReader(bytes.NewReader(frame[:part]), iotest.ErrReader(broken))))
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", part, err)
		}
	}
}

// A packed stream is read as the plain one, also cut, repeated and between others.
func TestPackedStreamsReadAsPlainOnes(t *testing.T) {
	var text bytes.Buffer
	writeRun(t, NewWriter(&text), testHeader("r"), requests(300)...)
	frame, _ := packed(t, slices.Collect(strings.Lines(text.String()))...)
	sum := func(parts ...[]byte) string {
		sums, err := Read(bytes.NewReader(slices.Concat(parts...)), metrics.Ask{})
		if err != nil || len(sums) != 1 {
			t.Fatal(len(sums), err)
		}
		s := sums[0]
		return fmt.Sprint(s.Completed, s.TTFT.Mean(), s.ITL.Mean(), s.E2EL.Percentile(99), s.Ending.Incomplete, s.Ending.Warnings)
	}
	half := text.Bytes()[:bytes.LastIndexByte(text.Bytes()[:text.Len()/2], '\n')+1]
	cut, ends := packed(t, string(half))
	if got, want := sum(frame), sum(text.Bytes()); got != want {
		t.Errorf("packed: %s, want %s", got, want)
	}
	if got, want := sum(cut[:ends[0]]), sum(half); got != want || !strings.Contains(got, "was cut") {
		t.Errorf("cut: %s, want %s", got, want)
	}
	if got, want := sum(cut[:ends[0]], frame, half), sum(half, text.Bytes(), half); got != want {
		t.Errorf("mixed: %s, want %s", got, want)
	}
}

// Whatever comes, it is read to its end.
func FuzzPlain(f *testing.F) {
	frame, ends := packed(f, "one\n", "two\n")
	for _, seed := range [][]byte{frame, frame[:ends[0]], []byte("text"), slices.Concat(frame[:9], frame), frameMark} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := io.ReadAll(io.LimitReader(plain(bytes.NewReader(data)), 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, frameMark) && !bytes.Equal(got, data) {
			t.Errorf("%q, want %q", got, data)
		}
	})
}

// Damage inside a frame is no cut: it has a warning with the file's name, and the lost rest is not
// lines of other programs.
func TestDamageOfAFrameIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	var text bytes.Buffer
	writeRun(t, NewWriter(&text), testHeader("r"), requests(300)...)
	lines := slices.Collect(strings.Lines(text.String()))
	frame, ends := packed(t, lines...)
	next := []byte(lines[len(lines)-1])
	const warning = "run.zst: its compressed data is damaged; what follows is lost up to the next frame"
	for name, damage := range map[string]func([]byte){
		"content":      func(b []byte) { copy(b[ends[150]+8:], "\xff\xff\xff\xff\xff\xff\xff\xff") },
		"a long block": func(b []byte) { b[ends[150]+2] ^= 0xff },
		"a bad block":  func(b []byte) { b[ends[150]] |= 6 },
		"checksum":     func(b []byte) { b[len(b)-1] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := slices.Clone(frame)
			damage(spoilt)
			sums, err := Read(newFile("run.zst", bytes.NewReader(spoilt)), metrics.Ask{})
			if err != nil || len(sums) != 1 || sums[0].Completed < 100 {
				t.Fatal(len(sums), err)
			}
			if w := sums[0].Ending.Warnings; !slices.Contains(w, warning) || strings.Contains(fmt.Sprint(w), "other programs") {
				t.Errorf("%q", w)
			}
			repaired, _ := packed(t, string(next))
			got, err := io.ReadAll(plain(bytes.NewReader(slices.Concat(spoilt, repaired))))
			if err != nil || !bytes.HasSuffix(got, next) {
				t.Errorf("%v: the next frame is lost", err)
			}
		})
	}
	for _, cut := range slices.Concat(ends, []int{7, 8, 10, ends[150] + 1, ends[150] + 2, ends[150] + 40, len(frame) - 1}) {
		files := newFile("run.zst", bytes.NewReader(frame[:cut]))
		if _, err := io.ReadAll(files); err != nil || files.damaged() != nil {
			t.Fatalf("cut at %d of %d: %v, %q", cut, len(frame), err, files.damaged())
		}
	}
}

func TestPackedInputWithoutALineSaysWhy(t *testing.T) {
	frame, _ := packed(t, someLines...)
	broken := append(slices.Clone(frame[:4]), 0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3)
	for want, input := range map[string][]byte{
		"no run in it: it is a compressed stream that was cut before its first line": frame[:10],
		"no run in it: its compressed data is damaged":                               broken,
		"it is gzip: unpack it first":                                                []byte("\x1f\x8b\x08\x00whatever"),
	} {
		if _, err := Read(bytes.NewReader(input), metrics.Ask{}); !errors.Is(err, ErrNothing) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
