package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/wire"
)

// A ticker stamps the reads of r with whole seconds since the zero time.
type ticker struct {
	r     io.Reader
	reads int
}

func (w *ticker) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.reads++
	}
	return n, err
}

func (w *ticker) Arrival() wire.Arrival {
	return wire.Arrival{At: time.Time{}.Add(time.Duration(w.reads) * time.Second), Read: w.reads}
}

// got is an event as a test compares it.
type got struct {
	Name, Data string
	Whole      bool
}

// readEvents reads all of r and gives its events and the error at its end.
func readEvents(r io.Reader) ([]got, error) {
	var events Reader
	events.Reset(&ticker{r: r}, new(Buffers), Rules{})
	var all []got
	for {
		e, err := events.Next()
		if err != nil {
			return all, err
		}
		all = append(all, got{string(e.Name), string(e.Data), e.Whole})
	}
}

func TestEventsAreTakenApartAsTheStandardSays(t *testing.T) {
	for _, test := range []struct {
		name, stream string
		want         []got
	}{
		{"two events", "data: a\n\ndata: b\n\n", []got{{"", "a", true}, {"", "b", true}}},
		{"no space after the colon", "data:a\n\n", []got{{"", "a", true}}},
		{"one space only is dropped", "data:  a \n\n", []got{{"", " a ", true}}},
		{"CR", "data: a\r\rdata: b\r\r", []got{{"", "a", true}, {"", "b", true}}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []got{{"", "a", true}, {"", "b", true}}},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r", []got{{"", "a", true}, {"", "b", true}, {"", "c", true}}},
		{"several data lines in CRLF", "data: a\r\nevent: e\r\ndata: b\r\n\r\n", []got{{"e", "a\nb", true}}},
		{"several data lines", "data: a\ndata\ndata: b\n\n", []got{{"", "a\n\nb", true}}},
		{"comments", ": ping\n\n:\ndata: a\n: in between\n\n: ping\n\n", []got{{"", "a", true}}},
		{"event names", "event: error\ndata: a\n\ndata: b\n\n", []got{{"error", "a", true}, {"", "b", true}}},
		{"name without data is forgotten", "event: error\n\ndata: a\n\n", []got{{"", "a", true}}},
		{"llama.cpp's older error", "error: {\"message\":\"a\"}\n\ndata: b\n\n", []got{{"error", `{"message":"a"}`, true}, {"", "b", true}}},
		{"an unknown field", "error: a\n\ndata: b\n\n", []got{{"", "b", true}}},
		{"name after data", "data: a\nevent: e\n\n", []got{{"e", "a", true}}},
		{"id, retry and unknown fields", "id: 1\nretry: 5\nfoo: bar\nbaz\ndata: a\n\n", []got{{"", "a", true}}},
		{"field names are exact", "Data: a\n data: b\n\n", nil},
		{"empty data", "data\n\ndata:\n\n", []got{{"", "", true}, {"", "", true}}},
		{"byte order mark", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []got{{"", "a", true}}},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []got{{"", "a", true}}},
		{"colon in the value", "data: a: b\n\n", []got{{"", "a: b", true}}},
		{"no blank line at the end", "data: a\n\ndata: b\n", []got{{"", "a", true}, {"", "b", false}}},
		{"no line end at the end", "data: a\n\ndata: b", []got{{"", "a", true}, {"", "b", false}}},
		{"CR at the end", "data: a\r", []got{{"", "a", false}}},
		{"nothing", "", nil},
		{"not an event stream", "{\"choices\":[]}\n", nil},
		{"a long event", "data: " + strings.Repeat("x", 100_000) + "\n\ndata: b\n\n", []got{{"", strings.Repeat("x", 100_000), true}, {"", "b", true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			readers := map[string]io.Reader{
				"whole":       strings.NewReader(test.stream),
				"byte a read": iotest.OneByteReader(strings.NewReader(test.stream)),
				"half a read": iotest.HalfReader(strings.NewReader(test.stream)),
				"data and error in one read": iotest.DataErrReader(
					strings.NewReader(test.stream)),
			}
			for how, r := range readers {
				events, err := readEvents(r)
				if err != io.EOF {
					t.Errorf("%s: error %v, want EOF", how, err)
				}
				if diff := cmp.Diff(test.want, events); diff != "" {
					t.Errorf("%s: events (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

func TestEventIsStampedWhenItsLastDataLineCame(t *testing.T) {
	reads := []string{"data: a", "\n", "\n", "data: b\n\ndata: c\n\nda", "ta: d\ndata: ", "d\n", ": x\n\n", "data: e"}
	var readers []io.Reader
	for _, s := range reads {
		readers = append(readers, strings.NewReader(s))
	}
	var events Reader
	events.Reset(&ticker{r: io.MultiReader(readers...)}, new(Buffers), Rules{})
	for _, want := range []struct {
		data string
		read int
	}{{"a", 1}, {"b", 4}, {"c", 4}, {"d\nd", 6}, {"e", 8}} {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if at := e.At.Sub(time.Time{}); string(e.Data) != want.data || at != time.Duration(want.read)*time.Second || e.Read != want.read {
			t.Errorf("event %q at %v by read %d; want %q by read %d", e.Data, at, e.Read, want.data, want.read)
		}
	}
}

func TestReadErrorComesAfterTheEventsBeforeIt(t *testing.T) {
	cut := errors.New("cut")
	events, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(cut)))
	if want := []got{{"", "a", true}, {"", "b", false}}; !cmp.Equal(want, events) || err != cut {
		t.Errorf("events %v, error %v; want %v, %v", events, err, want, cut)
	}
}

func TestTooLongAnEventIsAnError(t *testing.T) {
	var events Reader
	events.Reset(&ticker{r: strings.NewReader("data: a\n\ndata: " + strings.Repeat("x", 100_000) + "\n\n")}, new(Buffers), Rules{})
	events.text.limit = 50_000
	if _, err := events.Next(); err != nil {
		t.Fatal(err)
	}
	if e, err := events.Next(); err != errEventTooLong {
		t.Errorf("event of %d bytes, error %v; want %v", len(e.Data), err, errEventTooLong)
	}
	if _, err := events.Next(); err != errEventTooLong {
		t.Errorf("and then error %v", err)
	}
}

func TestCommentsDoNotPileUp(t *testing.T) {
	var events Reader
	events.Reset(&ticker{r: strings.NewReader(strings.Repeat(": ping\n", 10_000) + "data: a\n\n")}, new(Buffers), Rules{})
	events.text.limit = 20_000
	if e, err := events.Next(); err != nil || string(e.Data) != "a" {
		t.Errorf("event %q, error %v", e.Data, err)
	}
}

func TestReadingEventsDoesNotAllocate(t *testing.T) {
	chunk := `data: {"id":"cmpl-1","choices":[{"index":0,"text":" the","finish_reason":null}],"usage":null}` + "\n\n"
	var events Reader
	source := strings.NewReader(strings.Repeat(chunk, 3000))
	events.Reset(&ticker{r: source}, new(Buffers), Rules{})
	allocs := testing.AllocsPerRun(2000, func() {
		if _, err := events.Next(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations an event", allocs)
	}
}

// naiveEvents is the standard's algorithm on the whole stream at once.
func naiveEvents(stream []byte) []got {
	s := strings.TrimPrefix(string(stream), "\ufeff")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	var all []got
	var name string
	var data []string
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			if data != nil {
				all = append(all, got{name, strings.Join(data, "\n"), true})
			}
			name, data = "", nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data = append(data, value)
		}
	}
	if data != nil {
		all = append(all, got{name, strings.Join(data, "\n"), false})
	}
	return all
}

// A pieceReader gives as many bytes a Read as the next byte of sizes says.
type pieceReader struct{ stream, sizes []byte }

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.stream) == 0 {
		return 0, io.EOF
	}
	n := len(r.stream)
	if len(r.sizes) > 0 {
		n, r.sizes = min(n, 1+int(r.sizes[0])), r.sizes[1:]
	}
	n = copy(p, r.stream[:n])
	r.stream = r.stream[n:]
	return n, nil
}

func FuzzEventsDoNotDependOnReads(f *testing.F) {
	f.Add([]byte("\ufeffdata: a\r\n\r\nevent: x\rdata:b\rdata\r\r: c\n\ndata: d"), []byte{0, 1, 2})
	f.Add([]byte("data: {\"choices\":[]}\n\ndata: [DONE]\n\n"), []byte{20, 0, 1})
	f.Add(bytes.Repeat([]byte("data: 0123456789\n"), 600), []byte{255, 255})
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		events, err := readEvents(&pieceReader{stream, sizes})
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(naiveEvents(stream), events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
