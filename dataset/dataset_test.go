package dataset

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
)

func TestLineHoldsWhatIsSent(t *testing.T) {
	for _, row := range []struct {
		adapter string
		turn    Turn
		due     float64
		want    string
	}{
		{"", Turn{Prompt: "a <b> & \"ü\"\n", PromptLen: 4, OutputLen: 2}, 0.0922586600123,
			`{"id":"x-1","prompt":"a <b> & \"ü\"\n","prompt_len":4,"output_len":2,"due":0.0922586600123}`},
		{"", Turn{TokenIDs: []int{3, 4}, PromptLen: 2, OutputLen: 1}, 0,
			`{"id":"x-1","prompt":"","prompt_len":2,"output_len":1,"token_ids":[3,4],"due":0}`},
		{"sql", Turn{Prompt: "a", PromptLen: 1, OutputLen: 1}, 2,
			`{"id":"x-1","prompt":"a","prompt_len":1,"output_len":1,"due":2,"adapter":"sql"}`},
	} {
		var line bytes.Buffer
		if err := WriteLine(&line, &Conversation{ID: "x-1", Adapter: row.adapter, Turns: []Turn{row.turn}}, row.due); err != nil {
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
	if err := WriteLine(&bytes.Buffer{}, &Conversation{Turns: make([]Turn, 2)}, 0); err == nil {
		t.Error("two turns were written without a session")
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
