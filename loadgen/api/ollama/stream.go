package ollama

import (
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/metrics/record"
)

// protocol is how the API answers.
var protocol = &exchange.Protocol{
	Decoder: func() exchange.Decoder { return decoder{} }, Whole: whole, Calls: calls,
	Type: "application/x-ndjson", Lines: sse.Rules{Lines: true}, Unknown: true,
	Empty: "the answer has no text, no reasoning and no call",
	Cut:   "the stream ended without its last line (\"done\": true)",
}

// The members that a load test looks at in a line of an answer, and in its message. The code takes their values by
// position.
var (
	lineNames = []string{"message", "response", "thinking", "done", "done_reason", "error", "prompt_eval_count",
		"eval_count", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration"}
	messageNames = []string{"content", "thinking", "tool_calls"}
)

// A decoder reads the lines of answers.
type decoder struct{}

// Decode is a Decoder's of package exchange. /api/chat has a message, and /api/generate its text and its reasoning.
func (decoder) Decode(line []byte, p *exchange.Piece) error {
	var v [12][]byte
	if !scan.Members(line, lineNames, v[:]) {
		clear(v[:])
		if err := scan.Decoded(line, lineNames, v[:]); err != nil {
			return err
		}
	}
	text, thought, calls := v[1], v[2], []byte(nil)
	if !scan.IsNull(v[0]) {
		var m [3][]byte
		scan.Within(v[0], messageNames, m[:])
		text, thought, calls = m[0], m[1], m[2]
	}
	p.Failed = scan.Truthy(v[5])
	done := scan.Truthy(v[3])
	p.Chunk = !done && !p.Failed
	if scan.Truthy(thought) {
		p.Delta(thought, true, &p.Thought)
		p.Answers = false
	}
	if scan.Truthy(text) {
		p.Delta(text, true, &p.Text)
	}
	if scan.Truthy(calls) {
		p.Chunk, p.Output, p.Content, p.Answers, p.Calls = true, true, true, true, calls
	}
	if done {
		p.Last, p.Finish = true, []byte(exchange.FinishOf(v[4]))
		p.Usage, p.Server = usageOf(v[6], v[7]), timesOf(v[8:])
	}
	return nil
}

// usageOf are the counts of a whole answer. The server leaves out a count of 0.
func usageOf(in, out json.RawMessage) (u exchange.Usage) {
	u.Given = true
	u.In, u.HasIn = scan.CountOf(in)
	u.Out, u.HasOut = scan.CountOf(out)
	return u
}

// timesOf are the durations of an answer: in total, and in it until the model was loaded, for the prompt, and for
// the output. What is left of the total is the wait for a slot, and the server's work around the engine. They are
// nanoseconds. The server leaves out a duration of 0; without a total, nothing is known.
func timesOf(raw [][]byte) *record.ServerTimes {
	var ms [4]float64
	for i := range ms {
		if n := scan.Number(raw[i]); n != nil {
			ms[i] = *n / 1e6
		}
	}
	total, load, prompt, output := ms[0], ms[1], ms[2], ms[3]
	if total <= 0 {
		return nil
	}
	queue := max(0, total-load-prompt-output)
	return &record.ServerTimes{LoadMS: &load, QueueMS: &queue, TTFTMS: &prompt, GenerationMS: &output}
}

// whole reads an answer that is not streamed: it is one line.
func whole(body []byte, p *exchange.Piece, _ *exchange.Kept) error { return decoder{}.Decode(body, p) }

// calls reads the calls of a message. Each line has whole calls, whose arguments are an object.
func calls(raw []byte) []exchange.CallPart {
	var list scan.Few[struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}]
	_ = json.Unmarshal(raw, &list) // what is not a list has no calls
	parts := make([]exchange.CallPart, len(list))
	for i, c := range list {
		parts[i] = exchange.CallPart{
			ID: c.ID, Name: c.Function.Name, Arguments: string(c.Function.Arguments), Whole: true,
		}
	}
	return parts
}
