package metrics

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// chatRecord is a chat answer: its role after 100 ms, three tokens from 400 ms on,
// an end without output at 700 ms and usage at 800 ms.
func chatRecord() *Record {
	r := &Record{Run: "r", Sent: 0, FirstContent: 400 * time.Millisecond, Last: 600 * time.Millisecond, Trailer: 800 * time.Millisecond,
		End: 900 * time.Millisecond, Status: 200, In: 10, Out: 3, Finish: "stop", Until032: &Tokens{In: 9, Out: 5}}
	for _, ms := range []int{400, 500, 600} {
		r.Chunks.Append(time.Duration(ms) * time.Millisecond)
	}
	for _, ms := range []int{100, 700} {
		r.Blank.Append(time.Duration(ms) * time.Millisecond)
	}
	return r
}

// numbers are those of one answer in milliseconds: TTFT, E2EL and the gaps.
func numbers(r *Record) []int64 {
	found := []int64{r.TTFT().Milliseconds(), r.E2EL().Milliseconds()}
	for gap := range r.Chunks.Gaps() {
		found = append(found, gap.Milliseconds())
	}
	return found
}

var definitionTests = []struct {
	Definitions
	want []int64
	out  int
}{
	{"", []int64{400, 600, 100, 100}, 3},
	{Definitions033, []int64{400, 600, 100, 100}, 3},
	{Definitions030, []int64{100, 700, 300, 100, 100, 100}, 5},
	{Definitions029, []int64{100, 800, 300, 100, 100, 100}, 5},
}

func TestEachReleaseCountsAChatItsWay(t *testing.T) {
	for _, test := range definitionTests {
		before := chatRecord()
		got := test.Of(before, true)
		if !slices.Equal(test.want, numbers(got)) || got.Out != test.out {
			t.Errorf("%s: %v, %d tokens; want %v, %d", test.Definitions, numbers(got), got.Out, test.want, test.out)
		}
		if again := test.Of(got, true); !slices.Equal(test.want, numbers(again)) {
			t.Errorf("%s: twice it is %v", test.Definitions, numbers(again))
		}
		if !reflect.DeepEqual(before, chatRecord()) {
			t.Errorf("%s changed the record", test.Definitions)
		}
	}
}

func TestAnAnswerOfARoleAloneSucceededOnce(t *testing.T) {
	role := &Record{Class: Empty, Error: "never", Status: 200}
	role.Blank.Append(time.Second)
	nothing := &Record{Class: Empty, Error: "never", Status: 200}
	for _, test := range []struct {
		Definitions
		r    *Record
		chat bool
		want Class
	}{
		{Definitions033, role, true, Empty}, {Definitions030, role, true, OK}, {Definitions029, role, true, OK},
		{Definitions033, nothing, true, Empty}, {Definitions030, nothing, true, Empty}, {Definitions029, nothing, true, OK},
		{Definitions029, nothing, false, Empty},
	} {
		if got := test.Of(test.r, test.chat).Class; got != test.want {
			t.Errorf("%s, chat %t, %d blank chunks: %q, want %q", test.Definitions, test.chat, test.r.Blank.Len(), got, test.want)
		}
	}
}

// recount sums up a stream by other definitions than its own.
func recount(t *testing.T, stream []byte, d Definitions) *Summary {
	t.Helper()
	sums, err := Read(bytes.NewReader(stream), Ask{Definitions: d})
	if err != nil || len(sums) != 1 {
		t.Fatal(len(sums), err)
	}
	return sums[0]
}

// inMS are mean TTFT, mean E2EL and the number of gaps of a run.
func inMS(s *Summary) []int64 {
	return []int64{int64(s.TTFT.Mean() + .5), int64(s.E2EL.Mean() + .5), int64(s.ITL.Len())}
}

func TestAStreamIsCountedByAnyDefinitions(t *testing.T) {
	for _, noChunks := range []bool{false, true} {
		for _, recorded := range definitionTests {
			h := testHeader("r")
			h.Definitions = recorded.Definitions
			var stream bytes.Buffer
			sw := NewStreamWriter(&stream)
			sw.NoChunks = noChunks
			writeRun(t, sw, h, chatRecord())
			for _, test := range definitionTests {
				s := recount(t, stream.Bytes(), test.Definitions)
				as := test
				if test.Definitions == "" {
					as = recorded
				}
				want := []int64{as.want[0], as.want[1], int64(len(as.want) - 2)}
				if got := inMS(s); !slices.Equal(got[:2], want[:2]) || got[2] != want[2] && !noChunks || s.TotalOutput != as.out {
					t.Errorf("without chunks %t, recorded by %s, counted by %q: %v, %d tokens; want %v, %d",
						noChunks, recorded.Definitions, test.Definitions, got, s.TotalOutput, want, as.out)
				}
				if s.Header.InForce() != as.Named() {
					t.Errorf("it says %s for %s", s.Header.InForce(), as.Named())
				}
			}
		}
	}
}

// A stream of before Definitions has the role among the chunks, and its last event
// in Last.
func TestAFormerStreamIsCountedAnew(t *testing.T) {
	r := &Record{Run: "r", FirstContent: 400 * time.Millisecond, Last: 800 * time.Millisecond, End: 900 * time.Millisecond, Status: 200, In: 10, Out: 3, Finish: "stop"}
	for _, ms := range []int{100, 400, 500, 600} {
		r.Chunks.Append(time.Duration(ms) * time.Millisecond)
	}
	var stream bytes.Buffer
	writeRun(t, NewStreamWriter(&stream), testHeader("r"), r)
	former := []byte(strings.Replace(stream.String(), `"definitions":"0.33.0",`, "", 1))
	if len(former) == stream.Len() {
		t.Fatal("the run line does not name its definitions")
	}
	for d, want := range map[Definitions][]int64{
		"": {100, 800, 3}, Definitions029: {100, 800, 3}, Definitions030: {100, 600, 3}, Definitions033: {400, 600, 2},
	} {
		s := recount(t, former, d)
		if got := inMS(s); !slices.Equal(want, got) {
			t.Errorf("by %q: %v, want %v", d, got, want)
		}
		if d == "" && s.Header.InForce() != Definitions029 {
			t.Errorf("it says it was counted by %s", s.Header.InForce())
		}
	}
}

func TestACompactStreamKeepsItsDefinitions(t *testing.T) {
	h := testHeader("r")
	h.Compact = true
	var stream bytes.Buffer
	writeRun(t, NewStreamWriter(&stream), h, chatRecord())
	s := recount(t, stream.Bytes(), Definitions029)
	if got := inMS(s); got[0] != 400 || s.Header.InForce() != Definitions033 {
		t.Errorf("%v by %s", got, s.Header.InForce())
	}
	const want = "latencies are by the definitions of vLLM 0.33.0: a compact stream serves no others"
	if !slices.Contains(s.Warnings, want) {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestDefinitionsOfANewerProgramAreRefused(t *testing.T) {
	var d Definitions
	if err := d.UnmarshalText([]byte("0.99.0")); err == nil || d == Latest {
		t.Errorf("%q, %v", string(d), err)
	}
	if Latest.Older(Definitions029) || !Definitions029.Older(Definitions030) || !Definitions030.Older("") {
		t.Error("the order of releases")
	}
}

func TestStampsTogether(t *testing.T) {
	stamps := func(all ...int) (s Stamps) {
		for _, at := range all {
			s.Append(time.Duration(at))
		}
		return s
	}
	for _, test := range []struct{ a, b, want []int }{
		{nil, []int{1, 2}, []int{1, 2}}, {[]int{3}, nil, []int{3}},
		{[]int{1, 9}, []int{1, 4, 5}, []int{1, 1, 4, 5, 9}}, {[]int{7}, []int{1, 2}, []int{1, 2, 7}},
	} {
		got := together(stamps(test.a...), stamps(test.b...))
		if want := stamps(test.want...); !reflect.DeepEqual(want, got) {
			t.Errorf("%v and %v: %v", test.a, test.b, slices.Collect(got.All()))
		}
	}
	ends := together(Stamps{first: 1, last: 9, n: 5}, stamps(3, 12))
	if !reflect.DeepEqual(ends, Stamps{first: 1, last: 12, n: 7}) {
		t.Errorf("ends alone: %+v", ends)
	}
}

func TestOtherwiseIsSoundOrBroken(t *testing.T) {
	o := Otherwise{OtherwiseCut: 2, OtherwiseEvent: 1, OtherwiseUnended: 4}
	if o.Sound() != 3 || o.Broken() != 4 || Otherwise(nil).Sound() != 0 {
		t.Errorf("%d sound, %d broken", o.Sound(), o.Broken())
	}
}
