package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/servebench/servebench/loadgen/api/exchange"
)

const (
	responseText  = `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"sequence_number":4}`
	responseThink = `{"type":"response.reasoning_text.delta","item_id":"rs_1","delta":"So"}`
	responseArgs  = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{}"}`
	responseCall  = `{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"call_1","name":"get"}}`
	responseItem  = `{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hi"}]}}`
	responseEnd   = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":8},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":18}}}`
	responseShort = `{"type":"response.incomplete","response":{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}}}`
)

// read decodes an event into p.
func read(event []byte, p *exchange.Piece) error {
	p.Reset()
	return decoder{}.Decode(event, p)
}

func TestAnEventOfAResponseDoesNotAllocate(t *testing.T) {
	var p exchange.Piece
	for _, event := range []string{responseText, responseThink, responseArgs, responseItem, `{"type":"response.output_text.delta","delta":"a\n\u00e9"}`} {
		data := []byte(event)
		if err := read(data, &p); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { _ = read(data, &p) }); n != 0 {
			t.Errorf("%s takes %v allocations", event, n)
		}
	}
}

func FuzzResponseEvent(f *testing.F) {
	for _, event := range []string{responseText, responseThink, responseArgs, responseCall, responseEnd, responseShort, `{"type":"error","error":{"message":"boom"}}`, `{"type":1,"delta":[{}]}`, `{"type":"response.output_text.delta","delta":"\ud83d"}`} {
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		// A second member makes the scan unsure, so that encoding/json reads the event.
		var p, other exchange.Piece
		err := read(event, &p)
		if !json.Valid(event) || !strings.HasPrefix(string(event), "{") || len(event) < 3 {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", event, err)
		}
		twice := append([]byte(`{"X":1,`), event[1:]...)
		if !json.Valid(twice) {
			return
		}
		if err := read(twice, &other); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, other, cmpopts.IgnoreUnexported(exchange.Piece{})); diff != "" {
			t.Errorf("%s (-scanned +decoded):\n%s", event, diff)
		}
	})
}
