package metrics

import (
	"reflect"
	"slices"
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
}

func TestEachReleaseCountsAChatItsWay(t *testing.T) {
	for _, test := range definitionTests {
		before := chatRecord()
		got := test.Of(before)
		if !slices.Equal(test.want, numbers(got)) || got.Out != test.out {
			t.Errorf("%s: %v, %d tokens; want %v, %d", test.Definitions, numbers(got), got.Out, test.want, test.out)
		}
		if again := test.Of(got); !slices.Equal(test.want, numbers(again)) {
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
		want Class
	}{
		{Definitions033, role, Empty}, {Definitions030, role, OK}, {Definitions033, nothing, Empty}, {Definitions030, nothing, Empty},
	} {
		if got := test.Of(test.r).Class; got != test.want {
			t.Errorf("%s, %d blank chunks: %q, want %q", test.Definitions, test.r.Blank.Len(), got, test.want)
		}
	}
}

func TestDefinitionsOfANewerProgramAreRefused(t *testing.T) {
	var d Definitions
	if err := d.UnmarshalText([]byte("0.99.0")); err == nil || d == Latest {
		t.Errorf("%q, %v", string(d), err)
	}
	if Latest.Older(Definitions030) || Definitions030.Older(Definitions030) || !Definitions030.Older("") {
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

func TestDifferingIsSoundOrBroken(t *testing.T) {
	o := Differing{DiffersCut: 2, DiffersEvent: 1, DiffersUnended: 4}
	if o.Sound() != 3 || o.Broken() != 4 || Differing(nil).Sound() != 0 {
		t.Errorf("%d sound, %d broken", o.Sound(), o.Broken())
	}
}
