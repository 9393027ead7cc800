package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
)

// anyRecord sets about half of a Record's fields to something.
func anyRecord(random *rand.Rand) *metrics.Record {
	r := &metrics.Record{}
	set(random, reflect.ValueOf(r).Elem())
	r.Run = "r"
	if r.TokensPerChunk = slices.Clip(r.TokensPerChunk); len(r.TokensPerChunk) == 0 {
		r.TokensPerChunk = nil
	}
	if r.Late = slices.Clip(r.Late); len(r.Late) == 0 {
		r.Late = nil
	}
	if r.Session != nil && len(r.Session.Waits) == 0 {
		r.Session.Waits = nil
	}
	r.Last = r.Chunks.Last()    // as everywhere
	r.LastByte, r.Reply = 0, "" // not in a stream
	return r
}

var texts = []string{"bench-1", "stop", "Zoë said:\n\"\\ <>&\u2028\x7f\x01\"", "\xff", " "}

// set sets a value to something, or to its zero.
func set(random *rand.Rand, v reflect.Value) {
	if random.IntN(2) == 0 {
		return
	}
	if s, ok := v.Addr().Interface().(*metrics.Stamps); ok {
		for range random.IntN(5) {
			s.Append(time.Duration(random.Int64N(1e10) - 1e9))
		}
		if random.IntN(3) == 0 && s.Len() != 1 {
			*s = s.Ends()
		}
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{1, 200, -5, random.Int64N(1e12), 77}[random.IntN(5)])
	case reflect.Uint8:
		v.SetUint(uint64(random.IntN(256)))
	case reflect.Float64:
		v.SetFloat(random.NormFloat64())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(strings.ToValidUTF8(texts[random.IntN(len(texts))], "\ufffd"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(random, v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte([]string{`[]`, `[{"id":"\\"}]`, `[1,["]\"",{}],"é"]`}[random.IntN(3)]))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(4), 4))
		for i := range v.Len() {
			set(random, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			set(random, v.Field(i))
		}
	default:
		panic(fmt.Sprint("no value for a ", v.Type()))
	}
}

// Whatever a record holds comes back.
func TestARecordIsReadAsItWasWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	same := cmp.AllowUnexported(metrics.Stamps{})
	for range 3000 {
		want := anyRecord(random)
		var now bytes.Buffer
		sw := NewWriter(&now)
		sw.head = lineHead{V: streamVersion, Run: "r"}
		if err := sw.Write(want); err != nil {
			t.Fatal(err)
		}
		entries, sr := readAll(t, now.Bytes())
		if len(entries) != 1 || sr.Damaged != 0 {
			t.Fatalf("not read: %s", now.Bytes())
		}
		if diff := cmp.Diff(want, entries[0].Record, same); diff != "" {
			t.Fatalf("%s\n%s", now.Bytes(), diff)
		}
		if !json.Valid(now.Bytes()) {
			t.Fatalf("%s", now.Bytes())
		}
	}
}

// The line of a usual request, as in the documentation.
func TestTheUsualIsLeftOut(t *testing.T) {
	r := arrived(metrics.Record{
		Index: 138, ID: "bench-241faa97-138", Attempts: 1, Due: 50 * msec, Slot: 80 * msec, Sent: 81 * msec, Wrote: 81*msec + 25600,
		FirstByte: 95 * msec, FirstContent: 96 * msec, End: 98*msec + 1, In: 16, InAsked: 16, Out: 1, OutAsked: 1, Finish: "length", Status: 200,
	}, 96)
	const want = `{"v":2,"k":"req","run":"a","i":138,"id":"bench-241faa97-138","sent":81000000,"lag":1000000,"queue":30000000,` +
		`"wrote":25600,"first_byte":14000000,"chunks":1,"first":15000000,"end":17000001,"in":16,"out":1,"finish":"length"}` + "\n"
	if got := appendReq(nil, lineHead{V: 2, Kind: kindReq, Run: "a"}, r); string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// The line of a later turn of a session, as in the documentation.
func TestALineHasTheStep(t *testing.T) {
	r := arrived(metrics.Record{
		Index: 4, Turn: 2, ID: "bench-4-t2", Attempts: 1, Due: 7 * time.Second, Slot: 7 * time.Second, Sent: 7*time.Second + 1000, End: 8 * time.Second,
		In: 900, InAsked: 900, Cached: 640, Out: 1, OutAsked: 1, Status: 200, FirstContent: 8 * time.Second,
		Session: &metrics.Turn{
			ID: "chat-4", Turns: 6, Waits: []int{0, 1}, Ready: 5 * time.Second, Gap: 2 * time.Second, At: new(6 * time.Second),
			Took: time.Second, SessionSlot: time.Second, History: 700, Reusable: 720,
		},
	}, 8000)
	const want = `{"v":2,"k":"req","run":"a","i":4,"turn":2,"id":"bench-4-t2","step":{"session":"chat-4","turns":6,"waits":[0,1],"gap":2000000000,` +
		`"at":-1000001000,"took":1000000000,"place":-6000001000,"history":700,"reusable":720},"sent":7000001000,"lag":1000,` +
		`"chunks":1,"first":999999000,"end":999999000,"in":900,"cached":640,"out":1}` + "\n"
	if got := appendReq(nil, lineHead{V: 2, Kind: kindReq, Run: "a"}, r); string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	p := newParser(maphash.MakeSeed(), false)
	p.begin(1)
	if _, got := p.request([]byte(want[:len(want)-1])); got == nil || !cmp.Equal(r.Session, got.Session) {
		t.Errorf("read as %+v", got)
	}
}

func TestALineOfARequestIsNotAllocated(t *testing.T) {
	r, line := testRecord("r", 7, 500), make([]byte, 0, 64<<10)
	r.Text = ""
	r.Late.Add(3, 7*msec)
	r.Session = &metrics.Turn{ID: "s", Turns: 3, Waits: []int{0, 1}, At: new(msec), SessionSlot: msec}
	if n := testing.AllocsPerRun(100, func() { line = appendReq(line[:0], lineHead{V: 2, Kind: kindReq, Run: "r"}, r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzText(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, text); string(got)+"\n" != want.String() {
			t.Errorf("%s, want %s", got, &want)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	r := testRecord("r", 7, 1)
	r.Text = ""
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = appendReq(line[:0], lineHead{V: 2, Kind: kindReq, Run: "b9d96ec93f826220"}, r)
	}
	b.ReportMetric(float64(len(line)), "bytes")
}
