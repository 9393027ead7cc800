package dataset

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// carrying are turns with all that a Payload may have.
func carrying() []Turn {
	image := Medium{Kind: Image, Part: json.RawMessage(`{"type":"image_url","image_url":{"url":"data:é"}}`)}
	sound := Medium{Kind: Sound, Upload: &Upload{Name: "a.wav", Type: "audio/wav", Data: []byte("RI\x00FF")}, Seconds: 1.5}
	return []Turn{
		{OutputLen: 0, Payload: &Payload{Batch: []string{"query", "é"}}},
		{Prompt: "x", OutputLen: 3, Payload: &Payload{Media: []Medium{image, sound}, Members: json.RawMessage(`{"tools":[]}`)}},
		{OutputLen: -1, Payload: &Payload{Content: json.RawMessage(`[{"type":"text","text":"é"}]`), Within: []Kind{Video}}},
		{Prompt: "y", OutputLen: 3},
	}
}

func TestAFileGivesBackPayloads(t *testing.T) {
	var text, asked bytes.Buffer
	want := carrying()
	for i := range want {
		c := &Conversation{ID: "a", Turns: want[i : i+1]}
		if err := WriteLine(&text, c, 0); err != nil {
			t.Fatal(err)
		}
		line, err := AskedLine(c, 0, &want[i])
		if err != nil {
			t.Fatal(err)
		}
		asked.Write(append(line, '\n'))
	}
	for name, lines := range map[string]string{"dataset": text.String(), "asked": asked.String()} {
		source, n, err := File{Options: Options{Path: writeFile(t, "f.jsonl", lines)}}.Open()
		if err != nil || n != len(want) {
			t.Fatalf("%s: %d, %v", name, n, err)
		}
		for i, turn := range turns(t, source, nil) {
			if turn.Waits = nil; !reflect.DeepEqual(turn, want[i]) {
				t.Errorf("%s: %+v with %+v, want %+v with %+v", name, turn, turn.Payload, want[i], want[i].Payload)
			}
		}
	}
}

func TestABadPayloadIsNamedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		`{"prompt":"x","output_len":1,"media":[{"kind":"smell","name":"a"}]}`: `medium 1 has the kind "smell": it must be image, video or audio`,
		`{"prompt":"x","output_len":1,"media":[{"kind":"image"}]}`:            `medium 1 has no "part" and no file`,
		`{"prompt":"x","output_len":1,"media":[{"kind":"image","part":5}]}`:   `medium 1 has a "part" that is no object`,
		`{"prompt":"x","output_len":1,"batch":[]}`:                            `"batch" has no prompt`,
		`{"prompt":"x","output_len":1,"content":"y"}`:                         `"content" must be a list of at least one part`,
		`{"prompt":"x","output_len":1,"content":[]}`:                          `"content" must be a list of at least one part`,
		`{"prompt":"x","output_len":1,"extra_body":[]}`:                       `"extra_body" is no object`,
		`{"prompt":"x","output_len":1,"extra_body":{"stream":false}}`:         `"extra_body" has "stream": all answers of a run are streamed, or none: set it with --extra-body`,
		`{"output_len":1,"extra_body":{"a":1}}`:                               `no "prompt", "token_ids" or "messages"`,
	} {
		path := writeFile(t, "f.jsonl", "\n"+text)
		if _, _, err := (File{Options: Options{Path: path}}).Open(); err == nil || err.Error() != path+":2: "+want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAPartThatIsNullIsNone(t *testing.T) {
	path := writeFile(t, "f.jsonl", `{"prompt":"x","output_len":1,"media":[{"kind":"audio","part":null,"name":"a.wav","type":"audio/wav","data":"QUJD"}]}`)
	source, _, err := File{Options: Options{Path: path}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if m := turns(t, source, nil)[0].Payload.Media; len(m) != 1 || m[0].Part != nil || string(m[0].Upload.Data) != "ABC" {
		t.Errorf("media %+v", m)
	}
}

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
