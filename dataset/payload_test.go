package dataset

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

func TestRowsOfCustomHaveTheirOwnMembers(t *testing.T) {
	path := writeFile(t, "f.jsonl", `{"prompt":"a","extra_body":{"guided_json": {"type": "object"}}}`+"\n"+`{"prompt":"b","extra_body":null}`)
	source, _, err := Custom{Options: Options{Path: path, DisableShuffle: true}, OutputLen: 5}.Open()
	if err != nil {
		t.Fatal(err)
	}
	got := turns(t, source, nil)
	if len(got) != 2 || got[0].Payload == nil || string(got[0].Payload.Members) != `{"guided_json": {"type": "object"}}` || got[1].Payload != nil {
		t.Errorf("%+v", got)
	}
	path = writeFile(t, "g.jsonl", `{"prompt":"a","extra_body":7}`)
	if _, _, err := (Custom{Options: Options{Path: path}, OutputLen: 5}).Open(); err == nil || err.Error() != path+`:1: "extra_body" is no object` {
		t.Errorf("a number: %v", err)
	}
}

func TestConversationsOfShareGPTMayHaveAnImage(t *testing.T) {
	const rest = `"conversations":[{"value":"a b c d"},{"value":"e f g h i"}]}`
	d := ShareGPT{Options: Options{Path: "f.json", Tokenizer: tokenizer.Stub{Size: 10}, Num: 3, DisableShuffle: true}, Attach: func(turn *Turn, image, video string) {
		turn.Messages = json.RawMessage(turn.Prompt + "|" + image + "|" + video)
	}}
	list, _, err := d.choose(strings.NewReader(`[{"image":"x.png","video":"y.mp4",`+rest+`,{"video":"y.mp4",`+rest+`,{`+rest+`]`), nprand.NewPython(0))
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []string{"a b c d|x.png|", "a b c d||y.mp4", "a b c d||"} {
		if got := string(list[i].Messages); got != want {
			t.Errorf("turn %d: %s, want %s", i, got, want)
		}
	}
}
