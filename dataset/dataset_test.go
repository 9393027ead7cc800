package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"testing"
)

// numbers yields n conversations, and then err if there is one.
func numbers(n int, err error) Source {
	return func(yield func(*Conversation, error) bool) {
		for i := range n {
			if !yield(&Conversation{ID: strconv.Itoa(i)}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func TestLimitPullsNoMoreThanItYields(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		limit, have, want int
		fails             bool
	}{
		{0, 3, 0, false}, {-1, 3, 0, false}, {2, 3, 2, false}, {3, 3, 3, false}, {4, 3, 3, true},
	} {
		got, failed := 0, false
		for c, err := range Limit(numbers(row.have, broken), row.limit) {
			if err != nil {
				failed = true
			} else if c.ID != strconv.Itoa(got) {
				t.Errorf("%+v: conversation %d is %s", row, got, c.ID)
			} else {
				got++
			}
		}
		if got != row.want || failed != row.fails {
			t.Errorf("%+v: %d conversations, failed: %v", row, got, failed)
		}
	}
	for range Limit(numbers(3, nil), 2) {
		break // must not panic
	}
}

func TestLineHoldsWhatIsSent(t *testing.T) {
	for _, row := range []struct {
		turn Turn
		due  float64
		want string
	}{
		{Turn{Prompt: "a <b> & \"ü\"\n", PromptLen: 4, OutputLen: 2}, 0.0922586600123,
			`{"id":"x-1","prompt":"a <b> & \"ü\"\n","prompt_len":4,"output_len":2,"due":0.0922586600123}`},
		{Turn{TokenIDs: []int{3, 4}, PromptLen: 2, OutputLen: 1}, 0,
			`{"id":"x-1","prompt":"","prompt_len":2,"output_len":1,"token_ids":[3,4],"due":0}`},
	} {
		var line bytes.Buffer
		if err := WriteLine(&line, &Conversation{ID: "x-1", Turns: []Turn{row.turn}}, row.due); err != nil {
			t.Fatal(err)
		}
		if line.String() != row.want+"\n" {
			t.Errorf("line %swant %s", line.String(), row.want)
		}
	}
}

func TestDueIsReadBackAsItWas(t *testing.T) {
	for _, due := range []float64{0.1, 1e-7, 123456.7890123, 0x1.23456789abcdep-3} {
		var line bytes.Buffer
		if err := WriteLine(&line, &Conversation{Turns: make([]Turn, 1)}, due); err != nil {
			t.Fatal(err)
		}
		var got struct{ Due float64 }
		if err := json.Unmarshal(line.Bytes(), &got); err != nil || got.Due != due {
			t.Errorf("due %v became %v (%v)", due, got.Due, err)
		}
	}
}

func TestLineRefusesWhatItCannotHold(t *testing.T) {
	if err := WriteLine(&bytes.Buffer{}, &Conversation{ID: "x", Turns: make([]Turn, 2)}, 0); err == nil {
		t.Error("two turns were written as one")
	}
	if err := WriteLine(&bytes.Buffer{}, &Conversation{Turns: make([]Turn, 1)}, math.Inf(1)); err == nil {
		t.Error("an infinite due time was written")
	}
}

func TestUntimedForgetsTimes(t *testing.T) {
	due := 1.5
	timed := func(yield func(*Conversation, error) bool) { yield(&Conversation{ID: "a", Due: &due}, nil) }
	for c, err := range Untimed(timed) {
		if err != nil || c.ID != "a" || c.Due != nil {
			t.Errorf("got %+v, %v", c, err)
		}
	}
	for c := range timed {
		if c.Due == nil {
			t.Error("the source itself was changed")
		}
	}
}
