package replay

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/servebench/servebench/dataset"
)

// carrying are turns with all that a Payload may have.
func carrying() []dataset.Turn {
	image := dataset.Medium{Kind: dataset.Image, Part: json.RawMessage(`{"type":"image_url","image_url":{"url":"data:é"}}`)}
	sound := dataset.Medium{Kind: dataset.Sound, Upload: &dataset.Upload{Name: "a.wav", Type: "audio/wav", Data: []byte("RI\x00FF")}, Seconds: 1.5}
	return []dataset.Turn{
		{OutputLen: 0, Payload: &dataset.Payload{Batch: []string{"query", "é"}}},
		{Prompt: "x", OutputLen: 3, Payload: &dataset.Payload{Media: []dataset.Medium{image, sound}, Members: json.RawMessage(`{"tools":[]}`)}},
		{OutputLen: -1, Payload: &dataset.Payload{Content: json.RawMessage(`[{"type":"text","text":"é"}]`), Within: []dataset.Kind{dataset.Video}}},
		{Prompt: "y", OutputLen: 3},
	}
}

func TestAFileGivesBackPayloads(t *testing.T) {
	var text, asked bytes.Buffer
	want := carrying()
	for i := range want {
		c := &dataset.Conversation{ID: "a", Turns: want[i : i+1]}
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
		source, n, err := File{Options: dataset.Options{Path: writeFile(t, "f.jsonl", lines)}}.Open()
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
		if _, _, err := (File{Options: dataset.Options{Path: path}}).Open(); err == nil || err.Error() != path+":2: "+want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAPartThatIsNullIsNone(t *testing.T) {
	path := writeFile(t, "f.jsonl", `{"prompt":"x","output_len":1,"media":[{"kind":"audio","part":null,"name":"a.wav","type":"audio/wav","data":"QUJD"}]}`)
	source, _, err := File{Options: dataset.Options{Path: path}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if m := turns(t, source, nil)[0].Payload.Media; len(m) != 1 || m[0].Part != nil || string(m[0].Upload.Data) != "ABC" {
		t.Errorf("media %+v", m)
	}
}
