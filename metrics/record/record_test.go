package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// anyRecord sets about half of a Record's fields to something.
func anyRecord(random *rand.Rand) *Record {
	r := &Record{}
	set(random, reflect.ValueOf(r).Elem())
	if len(r.Tokens.PerChunk) == 0 {
		r.Tokens.PerChunk = nil
	}
	if len(r.Answer.Late) == 0 {
		r.Answer.Late = nil
	}
	if r.Session != nil && len(r.Session.Waits) == 0 {
		r.Session.Waits = nil
	}
	return r
}

var texts = []string{"bench-1", "stop", "Zoë said:\n\"\\ <>&\u2028\x7f\x01\"", " "}

// set sets a value to something, or to its zero.
func set(random *rand.Rand, v reflect.Value) {
	if random.IntN(2) == 0 {
		return
	}
	if s, ok := v.Addr().Interface().(*Stamps); ok {
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
		v.SetFloat(random.Float64() * 1e3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(texts[random.IntN(len(texts))])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(random, v.Elem())
	case reflect.Slice:
		switch v.Type().Name() {
		case "RawMessage":
			v.SetBytes([]byte(`[{"a":"}\"]"}]`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(4), 4))
		for i := range v.Len() {
			set(random, v.Index(i))
		}
		v.Set(v.Slice3(0, v.Len(), v.Len()))
	case reflect.Struct:
		for i := range v.NumField() {
			set(random, v.Field(i))
		}
	default:
		panic("no value for a " + v.Type().String())
	}
}

var exporter = cmp.AllowUnexported(Stamps{})

// What goes in comes out, whatever the form.
func TestRecordsComeBackFromEveryForm(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var packed Packed
	var want []*Record
	var scanner Scanner
	for range 5000 {
		r := anyRecord(random)
		packed.keep(r)
		r.Asked = nil
		want = append(want, r)

		line := *r
		line.Run, line.Times.LastByte, line.Answer.Reply = "", 0, "" // lines do not have them, or the head has
		line.Times.Last = line.Answer.Chunks.Last()
		line.Asked = []byte(`{"prompt":"a"}`)
		text := Append(nil, &line)
		text = append(text, '}')
		var scanned, parsed Record
		if scanner.Begin(text[1:]); !scanner.Record(&scanned) {
			t.Fatalf("not scanned: %s at %q", text, scanner.text)
		}
		if diff := cmp.Diff(&line, &scanned, exporter); diff != "" {
			t.Fatalf("scanned %s:\n%s", text, diff)
		}
		text[0] = '{'
		if err := Parse(text, &parsed); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(&line, &parsed, exporter); diff != "" {
			t.Fatalf("parsed %s:\n%s", text, diff)
		}
	}
	i := 0
	for r := range packed.All() {
		if diff := cmp.Diff(want[i], r, exporter); diff != "" {
			t.Fatalf("packed record %d:\n%s", i, diff)
		}
		i++
	}
	if i != len(want) || packed.Len() != i || len(packed.blocks) < 3 {
		t.Errorf("%d of %d records, in %d blocks", i, len(want), len(packed.blocks))
	}
}

// Texts are written as encoding/json writes them.
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
		if got := AppendString(nil, text); string(got)+"\n" != want.String() {
			t.Errorf("%s, want %s", got, &want)
		}
	})
}

// Records that are merged move to the other clock, and the others stay as they were.
func TestMergedRecordsMove(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	r := anyRecord(random)
	for r.Session == nil || r.Session.At == nil || r.Answer.Chunks.Len() == 0 {
		r = anyRecord(random)
	}
	r.Asked = nil
	var one, both Packed
	one.keep(r)
	both.keep(r)
	both.Merge(&one, time.Second)
	want := []*Record{r, new(*r)}
	want[1].Shift(time.Second)
	var got []*Record
	for r := range both.All() {
		got = append(got, new(*r))
	}
	if diff := cmp.Diff(want, got, exporter); diff != "" {
		t.Error(diff)
	}
	if *want[1].Session.At != *r.Session.At+time.Second || want[1].Times.Due != r.Times.Due+time.Second {
		t.Errorf("%+v", want[1].Session)
	}
}

// All times of a record move together: its line stays the same but for when it was sent.
func TestAllTimesMoveTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		r := anyRecord(random)
		if r.Session != nil {
			r.Session.SessionSlot = 7 // a session slot at 0 is not written
		}
		sent := r.Times.Sent
		before := Append(nil, r)
		r.Shift(time.Hour)
		if r.Times.Sent != sent+time.Hour {
			t.Fatalf("sent at %v, want %v", r.Times.Sent, sent+time.Hour)
		}
		if got, want := withoutSent(Append(nil, r)), withoutSent(before); got != want {
			t.Fatalf("%s, want\n%s", got, want)
		}
	}
}

// withoutSent is a line without when the request was sent.
func withoutSent(line []byte) string {
	before, after, found := bytes.Cut(line, []byte(`,"sent":`))
	if !found {
		return string(line)
	}
	_, after, _ = bytes.Cut(after, []byte(","))
	return string(before) + "," + string(after)
}

// What never happened does not move with the clock: a failed request of a later shard has no last chunk.
func TestWhatNeverHappenedDoesNotMove(t *testing.T) {
	r := &Record{Times: Times{Sent: time.Millisecond, End: time.Second}, Result: Result{Class: Status, Status: 500}}
	r.Shift(5 * time.Second)
	want := Times{Due: 5 * time.Second, Slot: 5 * time.Second, Sent: 5*time.Second + time.Millisecond, End: 6 * time.Second}
	if r.Times != want {
		t.Errorf("%+v, want %+v", r.Times, want)
	}
}

// Servers may put an id into each message. The packed form counts them, and keeps no list of them.
func TestMessagesAreCounted(t *testing.T) {
	var p Packed
	for i := range 100 {
		p.keep(&Record{Result: Result{Class: InStream, Error: fmt.Sprintf("%0500d", i)}})
	}
	if size := len(p.Pack(&Record{Result: Result{Error: strings.Repeat("x", 500)}})); size < 500 || len(p.names) > 1 {
		t.Errorf("%d bytes, %d names", size, len(p.names))
	}
}

// Contradictory and damaged lines read as what is there, whoever reads them.
func TestOddLinesReadAlike(t *testing.T) {
	for line, content := range map[string]time.Duration{
		`"i":1,"first":5`: 0,
		`"i":1,"first_content":7,"no_content":true`:                      7,
		`"i":1,"chunks":1,"first":5,"first_content":7,"no_content":true`: 7,
		`"i":1,"chunks":1,"first":5,"no_content":true`:                   0,
		`"i":1,"chunks":1,"first":5`:                                     5,
	} {
		var scanned, parsed Record
		var s Scanner
		if s.Begin([]byte(line + "}")); !s.Record(&scanned) {
			t.Fatalf("%s: not scanned", line)
		}
		if err := Parse([]byte("{"+line+"}"), &parsed); err != nil {
			t.Fatal(err)
		}
		if scanned.Times.FirstContent != content || parsed.Times.FirstContent != content {
			t.Errorf("%s: %v and %v, want %v", line, scanned.Times.FirstContent, parsed.Times.FirstContent, content)
		}
	}
}
