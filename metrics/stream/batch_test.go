package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// fillIn sets every field that v has, also those of the structs in it.
func fillIn(v reflect.Value) {
	var stamps record.Stamps
	for _, at := range []time.Duration{5, 7, 3} {
		stamps.Append(at)
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[record.Stamps]() {
			v.Set(reflect.ValueOf(stamps))
			return
		}
		for i := range v.NumField() {
			fillIn(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`[{"id":"a","function":{"name":"\"]"}},[]]`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillIn(v.Index(0))
	case reflect.String:
		v.SetString("a string")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-123)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(1.25e-9)
	default:
		panic("no value for a " + v.Type().String())
	}
}

// parserOfOne is a parser that is ready for a line.
func parserOfOne() *parser {
	p := newParser(maphash.MakeSeed(), false)
	p.begin(1)
	return &p
}

// lineOf is the line of a record, without its end.
func lineOf(t testing.TB, shard int, r *record.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	sw := NewWriter(&b)
	if err := errors.Join(sw.Begin(&metrics.Header{Run: r.Run, Shard: shard}), sw.Write(r)); err != nil {
		t.Fatal(err)
	}
	_, line, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	return bytes.TrimSpace(line)
}

// A field of a Record that the tables lack would make each line with it slow.
func TestEveryFieldIsScanned(t *testing.T) {
	want := &record.Record{}
	fillIn(reflect.ValueOf(want).Elem())
	want.Times.Last, want.Times.LastByte, want.Answer.Reply = want.Answer.Chunks.Last(), 0, "" // the stream does not have these two
	line := lineOf(t, 3, want)
	head, got := parserOfOne().request(line)
	if got == nil {
		t.Fatalf("not in the form of the tables: %s", line)
	}
	if head != (lineHead{streamVersion, kindReq, want.Run, 3}) || !reflect.DeepEqual(got, want) {
		t.Errorf("head %+v, record\n%+v\nwant\n%+v", head, got, want)
	}
}

// What the scanner reads, encoding/json reads as well, and as the same record.
func FuzzScannedLinesReadAsJSON(f *testing.F) {
	whole := &record.Record{}
	fillIn(reflect.ValueOf(whole).Elem())
	for _, r := range append(three(), testRecord("r", 1, 3), whole, &record.Record{Run: "ü", Result: record.Result{Error: "a\"b\\"}, Answer: record.Answer{Text: "\x00\xff\u2028"}}) {
		f.Add(lineOf(f, r.Index%2, r))
	}
	for _, odd := range []string{
		`"i":01`, `"i":-0`, `"i":1e3`, `"i":1.0`, `"i":12345678901234567890`, `"i":1,"i":2`, `"I":1`, `"id":"\u00e9\ud800"`, `"id":"a\"`,
		`"i":1,`, `"i":null`, `"i":1 `, `"server":{"ttft_ms":1e999}`, `"server":{"ttft_ms":"1"}`, `"server":{"ttft_ms":0x1}`,
		`"chunks":{"n":2,"first":1,"gaps":"AA=="}`, `"chunks":{"n":1,"first":1,"gaps":""}`, "\"chunks\":{\"n\":2,\"first\":1,\"gaps\":\"AA=\r=\"}",
		`"chunks":{"n":-1,"first":1}`, `"chunks":{}`, `"tokens_per_chunk":[]`, `"tokens_per_chunk":[1,]`, `"uncounted":false`, `"uncounted":`, `"conn":{"new":true,}`,
		`"m":1,"p":0,"of":2,"json":"x"`, `"new_field":1`,
		`"chunks":3,"last":4,"gaps":"AA=="`, `"chunks":2`, `"chunks":-2`, `"i":1,"blank":{"first":7}`, `"blank":{"n":-1}`, `"lag":-7,"queue":-9`, `"sent":null,"status":null`,
		`"calls":[`, `"calls":[]`, `"calls":[}`, `"calls":["\\"]`, `"calls":{}`, `"calls":null`, `"calls":[1] `, "\"calls\":[\"\n\"]", `"calls":["]`, `"calls":["\`,
		`"step":{}`, `"step":{"ready":5}`, `"step":{"waits":[]}`, `"step":{"at":null}`, `"step":{"at":0}`, `"step":null`, `"step":{"turns":2,"session_slot":0},"sent":7`,
		"\"error\":\"\x01\"", "\"error\":\"\xff\"",
	} {
		f.Add([]byte(requestMark + `"r",` + odd + `}`))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		head, got := parserOfOne().request(bytes.TrimSpace(line))
		if got == nil {
			return
		}
		var part partLine
		want := &record.Record{}
		if err := errors.Join(record.Parse(line, want), json.Unmarshal(line, &part)); err != nil || part.Parts > 0 {
			t.Fatalf("%q: %d parts, %v", line, part.Parts, err)
		}
		if want.Run = part.Run; head != part.lineHead || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: head %+v, record\n%+v\nwant\n%+v", line, head, got, want)
		}
	})
}

// longStream has more lines than all batches in progress: of two runs, with a torn line now and then
// and lines of other programs.
func longStream(t *testing.T) (text []byte, indices []int) {
	t.Helper()
	var b bytes.Buffer
	for _, r := range requests(20_000) {
		r.Run = []string{"a", "b"}[r.Index%2]
		line := lineOf(t, 0, r)
		switch {
		case r.Index%5000 == 4000:
			line = line[:len(line)/2]
		case r.Index%300 == 200:
			b.WriteString("srun: hello\n")
			fallthrough
		default:
			indices = append(indices, r.Index)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), indices
}

// However many goroutines parse, the lines come in order and the faults are the same.
func TestOrderDoesNotDependOnTheCores(t *testing.T) {
	text, want := longStream(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(cores)
		entries, sr := readAll(t, text)
		var got []int
		for _, e := range entries {
			got = append(got, e.Record.Index)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d cores: %d records, or in another order", cores, len(got))
		}
		const damage = "4 torn or damaged lines of the stream: line 4014, line 9031, line 14047, line 19063"
		if sr.damagedLines() != damage || sr.Skipped != 65 || sr.number != len(want)+4+65+1 {
			t.Errorf("%d cores: %s; %d skipped of %d", cores, sr.damagedLines(), sr.Skipped, sr.number)
		}
	}
}

// A Reader leaves no goroutine behind, whatever ends it. In a bubble, one would be a deadlock.
func TestReadersEndTheirParsers(t *testing.T) {
	text, _ := longStream(t)
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		for range NewReader(bytes.NewReader(text)).Entries() {
			break
		}
		n := 0
		for _, err := range NewReader(iotest.TimeoutReader(iotest.ErrReader(broken))).Entries() {
			if n++; !errors.Is(err, broken) {
				t.Error(err)
			}
		}
		newer := append(slices.Clone(text[:1+bytes.LastIndexByte(text[:len(text)/4], '\n')]), strings.Replace(requestMark, "3", "9", 1)+`"r"}`+"\n"...)
		for e, err := range NewReader(bytes.NewReader(append(newer, text...))).Entries() {
			if e == (Entry{}) {
				if n++; err == nil {
					t.Error("no error")
				}
			}
		}
		if n != 2 {
			t.Errorf("%d errors", n)
		}
	})
}
