package chunk

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/servebench/servebench/loadgen/api/exchange"
)

func TestAnEventLikeTheOneBeforeIsNotReadAgain(t *testing.T) {
	const (
		counted  = `{"id":"a","choices":[{"index":1,"text":" the","finish_reason":null}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`
		silent   = `{"id":"a","choices":[{"index":0,"text":" the","finish_reason":null}],"usage":null}`
		bare     = `{"choices":[{"delta":{"content":"a"}}],"id":"a"}`
		twofold  = `{"choices":[{"delta":{"reasoning":"a","reasoning_content":"b"}}]}`
		finished = `{"choices":[{"text":"a","finish_reason":"stop"}]}`
	)
	for _, test := range []struct {
		name, first, old, new string
		alike                 bool
	}{
		{"the same", counted, "", "", true},
		{"another text and count", counted, `the","finish_reason":null}],"usage":{"prompt_tokens":5,"completion_tokens":3`, `quick","finish_reason":null}],"usage":{"prompt_tokens":5,"completion_tokens":40`, true},
		{"another text without a count", silent, " the", "é", true},
		{"no usage", bare, `"a"}}`, `"long"}}`, true},
		{"a count where there was none", silent, `"usage":null`, `"usage":{"prompt_tokens":9}`, true},
		{"a usage of another kind", counted, `{"prompt_tokens":5,"completion_tokens":3}`, `{"prompt_tokens":"5"}`, false},
		{"an escape", silent, " the", `\n`, false},
		{"no UTF-8", silent, " the", "\xff", false},
		{"no text", silent, " the", "", false},
		{"no text where another would do", twofold, `"a"`, `""`, false},
		{"another choice", counted, `"index":1`, `"index":2`, false},
		{"a finish reason", silent, "null}]", `"length"}]`, false},
		{"something after it", bare, `"id":"a"}`, `"id":"a"},`, false},
		{"something missing", silent, `,"usage":null}`, "", false},
		{"a finish reason before", finished, `"a"`, `"b"`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			second := []byte(strings.Replace(test.first, test.old, test.new, 1))
			d := &Decoder{All: true}
			var p, alone exchange.Piece
			if err := d.Decode([]byte(test.first), &p); err != nil {
				t.Fatal(err)
			}
			if alike := d.repeat(second, &p); alike != test.alike {
				t.Errorf("alike: %t, want %t", alike, test.alike)
			}
			p.Reset()
			err, want := d.Decode(second, &p), d.decode(second, &alone)
			if (err == nil) != (want == nil) {
				t.Errorf("error %v, want %v", err, want)
			} else if diff := cmp.Diff(saidBy(&alone), saidBy(&p)); want == nil && diff != "" {
				t.Errorf("(-decode +read):\n%s", diff)
			}
		})
	}
}

func TestAShapeOutlivesItsEvent(t *testing.T) {
	event := []byte(pieceTests[0].event)
	d := &Decoder{All: true}
	if err := d.Decode(event, new(exchange.Piece)); err != nil {
		t.Fatal(err)
	}
	clear(event)
	if !d.repeat([]byte(pieceTests[0].event), new(exchange.Piece)) {
		t.Error("the shape was lost with the buffer of its event")
	}
}

func FuzzRepeatAgreesWithEncodingJSON(f *testing.F) {
	for i, test := range pieceTests {
		f.Add([]byte(test.event), []byte(test.event))
		f.Add([]byte(test.event), []byte(pieceTests[(i+1)%len(pieceTests)].event))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := &Decoder{All: true}
		var before, repeated, decoded exchange.Piece
		if !json.Valid(first) || d.Decode(first, &before) != nil || !json.Valid(second) || !d.repeat(second, &repeated) {
			return
		}
		if err := d.decode(second, &decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(saidBy(&decoded), saidBy(&repeated)); diff != "" {
			t.Errorf("%s\nafter %s\n(-decode +repeat):\n%s", second, first, diff)
		}
	})
}
