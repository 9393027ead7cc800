package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answered is a completed request of so many tokens, of which so many were asked for.
func answered(out, asked int, finish string) *Record {
	return &Record{Out: out, OutAsked: asked, Finish: finish}
}

func TestAnswersAreComparedWithWhatWasAskedFor(t *testing.T) {
	records := []*Record{
		answered(128, 128, "length"), answered(100, 128, "stop"), answered(1, 9, "stop"), answered(5, 9, "length"), answered(5, 9, ""),
		answered(130, 128, "length"), answered(12, 9, "stop"),
		answered(7, 0, "stop"), // of a dataset that asks for no length
		{Out: 3, OutAsked: 9, Finish: "stop", Uncounted: true},
		{OutAsked: 9, Finish: "error", Class: Unfinished},
		{Out: 3, OutAsked: 9, Finish: "stop", Phase: WarmUp},
	}
	want := Lengths{
		Of: 7, Short: 4, Missing: 28 + 8 + 4 + 4, Long: 2, Extra: 2 + 3,
		Reasons: map[string]int{"stop": 2, "length": 1, "none": 1},
	}
	truth := truthOf(Config{IgnoreEOS: true}, records...)
	if diff := cmp.Diff(want, truth.Lengths); diff != "" {
		t.Errorf("lengths\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"length": 3, "stop": 5, "error": 1}, truth.FinishReasons); diff != "" {
		t.Errorf("finish reasons\n%s", diff)
	}
	truth = truthOf(Config{}, records...)
	if diff := cmp.Diff(Lengths{Of: 7, Long: 2, Extra: 2 + 3}, truth.Lengths); diff != "" || truth.FinishReasons["stop"] != 5 {
		t.Errorf("without ignore_eos %v\n%s", truth.FinishReasons, diff)
	}
}

func TestOddAnswersSayHowTheyAreOdd(t *testing.T) {
	for name, c := range map[string]struct {
		lengths      Lengths
		says, remedy string
	}{
		"stopped": {Lengths{Of: 100, Short: 12, Missing: 340, Reasons: map[string]int{"stop": 9, "length": 3}},
			"short answers: 12 of 100 ended before the tokens asked for though ignore_eos was sent, 340 tokens missing (finish reasons: stop 9, length 3) (limit 1.00 %)",
			"does the server know ignore_eos?"},
		"limited": {Lengths{Of: 100, Short: 2, Missing: 1, Reasons: map[string]int{"length": 2}}, "1 token missing (finish reasons: length 2)",
			"is --max-model-len of the server too small?"},
		"long": {Lengths{Of: 100, Long: 2, Extra: 9}, "long answers: 2 of 100 went on past the tokens asked for, 9 tokens more (limit", "does the server know max_tokens?"},
		"both": {Lengths{Of: 300, Short: 1, Missing: 5, Long: 3, Extra: 9, Reasons: map[string]int{"stop": 1}}, "stop 1); long answers: 3 of 300", "does the server know ignore_eos?"},
	} {
		s := clean()
		s.Truth.Lengths = c.lengths
		s.Judge()
		failed := s.Trust.Failed()
		if len(failed) != 1 || failed[0].Name != "answer lengths" || !strings.Contains(failed[0].Text, c.says) || failed[0].Remedy != c.remedy {
			t.Errorf("%s: %+v", name, failed)
		}
	}
}

func TestCountsAreInOneOrder(t *testing.T) {
	for range 9 {
		if got := ByCount(map[string]int{"d": 1, "b": 1, "e": 2, "a": 1, "c": 1}); !slices.Equal(got, []string{"e", "a", "b", "c", "d"}) {
			t.Fatal(got)
		}
	}
}

func TestFinishReasonsOfAServerAreBounded(t *testing.T) {
	var records []*Record
	for i := range 25 {
		records = append(records, answered(1, 1, fmt.Sprintf("reason %02d", i)))
	}
	records = append(records, answered(1, 1, "reason 03"), answered(1, 1, "reason 24"))
	reasons := truthOf(Config{}, records...).FinishReasons
	if len(reasons) != maxReasons+1 || reasons["reason 03"] != 2 || reasons[otherReasons] != 6 {
		t.Errorf("%v", reasons)
	}
	if blank := truthOf(Config{}, answered(1, 1, "\n"), answered(1, 1, "\x00")).FinishReasons; !cmp.Equal(map[string]int{otherReasons: 2}, blank) {
		t.Errorf("%v", blank)
	}
	long := truthOf(Config{}, answered(1, 1, "\x1b[31m\n"+strings.Repeat("ü", 1000)), answered(1, 1, "\x1b[31m\n"+strings.Repeat("ü", 1001)))
	if want := map[string]int{"[31m" + strings.Repeat("ü", 14): 2}; !cmp.Equal(want, long.FinishReasons) {
		t.Errorf("%v, want %v", long.FinishReasons, want)
	}
}
