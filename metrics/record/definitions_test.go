package record

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// chatRecord is a chat answer: its role after 100 ms, three tokens from 400 ms on,
// an end without output at 700 ms and usage at 800 ms.
func chatRecord() *Record {
	r := &Record{Run: "r", Times: Times{Sent: 0, FirstContent: 400 * time.Millisecond, Last: 600 * time.Millisecond, Trailer: 800 * time.Millisecond,
		End: 900 * time.Millisecond}, Result: Result{Status: 200}, Tokens: Tokens{In: 10, Out: 3, Until032: &Count{In: 9, Out: 5}}, Answer: Answer{Finish: "stop"}}
	for _, ms := range []int{400, 500, 600} {
		r.Answer.Chunks.Append(time.Duration(ms) * time.Millisecond)
	}
	for _, ms := range []int{100, 700} {
		r.Answer.Blank.Append(time.Duration(ms) * time.Millisecond)
	}
	return r
}

// numbers are those of one answer in milliseconds: TTFT, E2EL and the gaps.
func numbers(r *Record) []int64 {
	found := []int64{r.TTFT().Milliseconds(), r.E2EL().Milliseconds()}
	for gap := range r.Answer.Chunks.Gaps() {
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
		if !slices.Equal(test.want, numbers(got)) || got.Tokens.Out != test.out {
			t.Errorf("%s: %v, %d tokens; want %v, %d", test.Definitions, numbers(got), got.Tokens.Out, test.want, test.out)
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
	role := &Record{Result: Result{Class: Empty, Error: "never", Status: 200}}
	role.Answer.Blank.Append(time.Second)
	nothing := &Record{Result: Result{Class: Empty, Error: "never", Status: 200}}
	for _, test := range []struct {
		Definitions
		r    *Record
		want Class
	}{
		{Definitions033, role, Empty}, {Definitions030, role, OK}, {Definitions033, nothing, Empty}, {Definitions030, nothing, Empty},
	} {
		if got := test.Of(test.r).Result.Class; got != test.want {
			t.Errorf("%s, %d blank chunks: %q, want %q", test.Definitions, test.r.Answer.Blank.Len(), got, test.want)
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

// Older releases count a role, which moves the index of a marked chunk.
func TestMarksStayWithTheirChunks(t *testing.T) {
	r := chatRecord() // role 100, tokens 400 500 600, end 700
	r.Answer.Late.Add(0, 5*time.Millisecond)
	r.Answer.Late.Add(2, 7*time.Millisecond)
	older := Definitions030.Of(r)
	var got []int
	for i, by := range older.Answer.Late.All() {
		got = append(got, i, int(by/time.Millisecond))
	}
	if want := []int{1, 5, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("index and milliseconds %v, want %v", got, want)
	}
	if len(Definitions030.Of(chatRecord()).Answer.Late) != 0 {
		t.Error("there is a mark where there was none")
	}
}
