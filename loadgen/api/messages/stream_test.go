package messages

import (
	"encoding/json"
	"testing"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":4,"cache_read_input_tokens":2,"output_tokens":1}}}`
	messageText  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`
	messageThink = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"So"}}`
	messageCall  = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"get","input":{}}}`
	messageArgs  = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \u00e9"}}`
	messageBlank = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`
	messagePing  = `{"type":"ping"}`
	messageDelta = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`
	messageStop  = `{"type":"message_stop"}`
)

// read decodes an event into p.
func read(event []byte, p *exchange.Piece) error {
	p.Reset()
	return decoder{}.Decode(event, p)
}

func TestAnEventOfAMessageDoesNotAllocate(t *testing.T) {
	var p exchange.Piece
	for _, event := range []string{messageText, messageThink, messageCall, messageArgs, messagePing} {
		data := []byte(event)
		if err := read(data, &p); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { _ = read(data, &p) }); n != 0 {
			t.Errorf("%s takes %v allocations", event, n)
		}
	}
}

func FuzzMessageEvent(f *testing.F) {
	for _, event := range []string{messageStart, messageText, messageThink, messageCall, messageArgs, messageBlank, messagePing, messageDelta, messageStop, `{"type":"error","error":{"message":"boom"}}`, `{"type":1,"delta":[{}]}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"\ud83d"}}`} {
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		var p exchange.Piece
		if err := read(event, &p); err == nil && !json.Valid(event) && scan.Members(event, messageEventNames, make([][]byte, 5)) {
			return // the scan takes it for JSON if its brackets match
		}
		if p.Output != p.Content || p.Answers && !p.Content || p.Usage.In > scan.MaxCount || p.Usage.Out > scan.MaxCount {
			t.Errorf("%s: %+v", event, p)
		}
		if p.Calls != nil {
			calls(p.Calls)
		}
	})
}
