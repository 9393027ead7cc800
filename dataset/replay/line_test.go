package replay

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func TestLineHoldsWhatIsSent(t *testing.T) {
	for _, row := range []struct {
		adapter string
		turn    dataset.Turn
		due     float64
		want    string
	}{
		{"", dataset.Turn{Prompt: "a <b> & \"ü\"\n", PromptLen: 4, OutputLen: 2}, 0.0922586600123,
			`{"id":"x-1","prompt":"a <b> & \"ü\"\n","prompt_len":4,"output_len":2,"due":0.0922586600123}`},
		{"", dataset.Turn{TokenIDs: []int{3, 4}, PromptLen: 2, OutputLen: 1}, 0,
			`{"id":"x-1","prompt":"","prompt_len":2,"output_len":1,"token_ids":[3,4],"due":0}`},
		{"sql", dataset.Turn{Prompt: "a", PromptLen: 1, OutputLen: 1}, 2,
			`{"id":"x-1","prompt":"a","prompt_len":1,"output_len":1,"due":2,"adapter":"sql"}`},
	} {
		var line bytes.Buffer
		if err := WriteLine(&line, &dataset.Conversation{ID: "x-1", Adapter: row.adapter, Turns: []dataset.Turn{row.turn}}, row.due); err != nil {
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
		if err := WriteLine(&line, &dataset.Conversation{Turns: make([]dataset.Turn, 1)}, due); err != nil {
			t.Fatal(err)
		}
		var got struct{ Due float64 }
		if err := json.Unmarshal(line.Bytes(), &got); err != nil || got.Due != due {
			t.Errorf("due %v became %v (%v)", due, got.Due, err)
		}
	}
}

func TestLineRefusesWhatItCannotHold(t *testing.T) {
	if err := WriteLine(&bytes.Buffer{}, &dataset.Conversation{Turns: make([]dataset.Turn, 2)}, 0); err == nil {
		t.Error("two turns were written without a session")
	}
	if err := WriteLine(&bytes.Buffer{}, &dataset.Conversation{Turns: make([]dataset.Turn, 1)}, math.Inf(1)); err == nil {
		t.Error("an infinite due time was written")
	}
}

func TestAdaptersAreReadBack(t *testing.T) {
	var text bytes.Buffer
	for _, c := range []*dataset.Conversation{
		{ID: "a", Adapter: "sql", Turns: []dataset.Turn{{Prompt: "one", OutputLen: 1}}},
		{ID: "b", Turns: []dataset.Turn{{Prompt: "two", OutputLen: 1}}},
		{ID: "c", Adapter: "chat", Turns: []dataset.Turn{{Prompt: "three", OutputLen: 1}, {Prompt: "four", OutputLen: 1, Waits: []dataset.Wait{}}}},
	} {
		if err := WriteLine(&text, c, 0); err != nil {
			t.Fatal(err)
		}
	}
	source, n, err := File{Options: dataset.Options{Path: writeFile(t, "f.jsonl", text.String())}}.Open()
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	var got []string
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.ID+" "+c.Adapter)
	}
	if want := []string{"a sql", "b ", "c chat"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
