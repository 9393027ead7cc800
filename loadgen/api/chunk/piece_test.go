package chunk

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// said is a piece as a test compares it.
type said struct {
	Choices, Failed bool
	Output, Content bool
	Answers         bool // text, a call or a refusal
	Index           int
	Text, Finish    string
	In, Out, Cached int
	Thought, Calls  string
	Reasoned        int // output tokens
}

func saidBy(p *exchange.Piece) said {
	return said{p.Chunk, p.Failed, p.Output, p.Content, p.Answers, p.Index, string(p.Text), string(p.Finish), p.Usage.In, p.Usage.Out, p.Usage.Cached, string(p.Thought), string(p.Calls), p.Usage.Reasoned}
}

// decoderOf decodes what an event of a test is of: a chat, or completions.
func decoderOf(event []byte) *Decoder {
	if strings.Contains(string(event), `"delta"`) {
		return &Decoder{Deltas: true, Trails: true}
	}
	return &Decoder{All: true}
}

// sure marks the events that the scan must read without encoding/json.
const sure, unsure = true, false

var pieceTests = []struct {
	name, event string
	sure        bool
	want        said
}{
	{"vLLM completion", `{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" the","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: " the"}},
	{"vLLM continuous usage", `{"id":"cmpl-1","choices":[{"index":0,"text":" the","finish_reason":null}],"usage":{"prompt_tokens":5,"total_tokens":8,"completion_tokens":3}}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: " the", In: 5, Out: 3}},
	{"chat role", `{"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
		sure, said{Choices: true}},
	{"chat role with null", `{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1}`,
		sure, said{Choices: true}},
	{"chat content", `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "Hi"}},
	{"finish", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		sure, said{Choices: true, Finish: "stop"}},
	{"empty finish", `{"choices":[{"index":0,"delta":{},"finish_reason":""}]}`,
		sure, said{Choices: true}},
	{"finish as an object", `{"choices":[{"index":0,"text":"a","finish_reason":{"type":"length","length":16}}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a", Finish: "length", In: 5, Out: 3}},
	{"finish as an object with a name", `{"choices":[{"index":0,"text":"a","finish_reason":{"name":"stop"}}]}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a", Finish: "stop"}},
	{"finish of another kind", `{"choices":[{"index":0,"text":"a","finish_reason":[7]}],"usage":{"prompt_tokens":5}}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a", In: 5}},
	{"reasoning", `{"choices":[{"index":0,"delta":{"reasoning":"Let me"}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Thought: "Let me"}},
	{"reasoning_content", `{"choices":[{"index":0,"delta":{"reasoning_content":"Let me"}}]}`,
		sure, said{Choices: true, Content: true, Thought: "Let me"}},
	{"reasoning under both names", `{"choices":[{"index":0,"delta":{"content":"!","reasoning_content":"Let me","reasoning":"Let me"}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "!", Thought: "Let me"}},
	{"refusal", `{"choices":[{"index":0,"delta":{"content":null,"refusal":"No"}}]}`,
		sure, said{Choices: true, Content: true, Answers: true}},
	{"tool call", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"get","arguments":""}}]}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Calls: `[{"index":0,"id":"c1","type":"function","function":{"name":"get","arguments":""}}]`}},
	{"tool call arguments", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\": 1"}}]}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Calls: `[{"index":0,"function":{"arguments":"{\"a\": 1"}}]`}},
	{"no tool calls", `{"choices":[{"index":0,"delta":{"content":"Hi","tool_calls":[],"reasoning":null}},{"index":1,"delta":{"reasoning":"So","tool_calls":[{"index":0}]}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Index: 1, Text: "Hi"}},
	{"reasoning with escapes", `{"choices":[{"index":0,"delta":{"reasoning_content":"a\nb","reasoning":""}}]}`,
		sure, said{Choices: true, Content: true, Thought: "a\nb"}},
	{"function call", `{"choices":[{"index":0,"delta":{"function_call":{"name":"get","arguments":"{"}}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true}},
	{"escapes", `{"choices":[{"index":0,"text":"a\n\"b\"\t\\\/\u00e9\ud83d\ude00"}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a\n\"b\"\t\\/é😀"}},
	{"half a pair of surrogates", `{"choices":[{"index":0,"text":"\ud83dx"}]}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "\ufffdx"}},
	{"bytes that are not UTF-8", "{\"choices\":[{\"index\":0,\"text\":\"a\xffb\"}]}",
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a\ufffdb"}},
	{"two choices", `{"choices":[{"index":0,"text":"a"},{"index":1,"text":"b","finish_reason":"length"}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Index: 1, Text: "a", Finish: "length"}},
	{"log probabilities", `{"choices":[{"index":0,"text":"a","logprobs":{"tokens":["\"}]"],"top_logprobs":[{"Text ":-1.5e3}]}}]}`,
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a"}},
	{"usage alone", `{"id":"1","choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"total_tokens":26,"prompt_tokens_details":{"cached_tokens":3}}}`,
		sure, said{In: 14, Out: 12, Cached: 3}},
	{"reasoning tokens", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"completion_tokens_details":{"audio_tokens":0,"reasoning_tokens":9}}}`,
		sure, said{In: 14, Out: 12, Reasoned: 9}},
	{"SGLang's reasoning tokens", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"completion_tokens_details":null,"reasoning_tokens":9}}`,
		sure, said{In: 14, Out: 12, Reasoned: 9}},
	{"no reasoning tokens", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"completion_tokens_details":{"reasoning_tokens":0},"reasoning_tokens":null}}`,
		sure, said{In: 14, Out: 12}},
	{"details of no object", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"completion_tokens_details":7,"reasoning_tokens":"9"}}`,
		unsure, said{In: 14, Out: 12}},
	{"no details", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"prompt_tokens_details":null}}`,
		sure, said{In: 14, Out: 12}},
	{"details of another kind", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"prompt_tokens_details":[7]}}`,
		unsure, said{In: 14, Out: 12}},
	{"other details", `{"choices":[],"usage":{"prompt_tokens":14,"completion_tokens":12,"prompt_tokens_details":{"audio_tokens":2,"cached_tokens":null}}}`,
		sure, said{In: 14, Out: 12}},
	{"usage without choices", `{"usage":{"prompt_tokens":14,"completion_tokens":12}}`,
		sure, said{In: 14, Out: 12}},
	{"white space", " { \"choices\" : [ { \"text\" : \"a\" , \"index\" : 0 } ] , \"usage\" : { } } \n",
		sure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a"}},
	{"null everywhere", `{"choices":[{"index":null,"text":null,"delta":null,"finish_reason":null}],"usage":null,"error":null,"object":null}`,
		sure, said{Choices: true}},
	{"null choices", `{"choices":null}`, sure, said{}},
	{"nothing", `{}`, sure, said{}},
	{"error object", `{"error":{"message":"boom"}}`, unsure, said{Failed: true}},
	{"error text", `{"error":"boom"}`, unsure, said{Failed: true}},
	{"vLLM's older error", `{"object":"error","message":"boom"}`, unsure, said{Failed: true}},
	{"empty error", `{"choices":[{"index":0,"text":"a"}],"error":""}`, unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a"}},
	{"empty error object", `{"choices":[{"index":0,"text":"a"}],"error":{}}`, unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a"}},
	{"no error", `{"choices":[{"index":0,"text":"a"}],"error":false}`, unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a"}},
	{"error number", `{"error":1}`, unsure, said{Failed: true}},
	{"content in parts", `{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"It "},{"type":"text","text":"is"}]}}]}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "It is"}},
	{"Mistral's thinking", `{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"So "},{"type":"text","text":"it "}]},{"type":"text","text":"is"}]}}]}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "is"}},
	{"Mistral's thinking alone", `{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"So "}]}]}}]}`,
		unsure, said{Choices: true, Output: true, Content: true}},
	{"float count", `{"choices":[],"usage":{"prompt_tokens":14.0,"completion_tokens":12}}`, unsure, said{Out: 12}},
	{"content of another type", `{"choices":[{"delta":{"content":["a"]},"finish_reason":"stop"}]}`,
		unsure, said{Choices: true, Output: true, Content: true, Answers: true, Finish: "stop"}},
	{"choice of another type", `{"choices":[1]}`, unsure, said{Choices: true, Output: true}},
	{"escaped name", `{"\u0063hoices":[{"text":"a"}]}`, unsure, said{Choices: true, Output: true, Content: true, Answers: true, Text: "a"}},
	{"name twice", `{"usage":{"prompt_tokens":1},"usage":{"prompt_tokens":2}}`, unsure, said{In: 2}},
}

func TestPieceIsReadFromEveryShape(t *testing.T) {
	for _, test := range pieceTests {
		t.Run(test.name, func(t *testing.T) {
			var p exchange.Piece
			d := decoderOf([]byte(test.event))
			if sure := d.scan([]byte(test.event), &p); sure != test.sure {
				t.Errorf("the scan is sure: %t, want %t", sure, test.sure)
			}
			if err := d.Decode([]byte(test.event), &p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, saidBy(&p)); diff != "" {
				t.Errorf("piece (-want +got):\n%s", diff)
			}
			if err := d.decode([]byte(test.event), &p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, saidBy(&p)); diff != "" {
				t.Errorf("piece by encoding/json (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPieceOfNoJSONIsAnError(t *testing.T) {
	whole := `{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"a\"b"}}]}}],"usage":{"prompt_tokens":14}}`
	for i := range whole {
		if err := (&Decoder{All: true}).Decode([]byte(whole[:i]), new(exchange.Piece)); err == nil {
			t.Errorf("no error for %q", whole[:i])
		}
	}
	for _, event := range []string{"hello", `{"choices":[]}{}`, `{"choices":[]} x`, `{}x`, `{"choices":[1 2]}`} {
		if err := (&Decoder{All: true}).Decode([]byte(event), new(exchange.Piece)); err == nil {
			t.Errorf("no error for %q", event)
		}
	}
}

func TestScanningDoesNotAllocate(t *testing.T) {
	var p exchange.Piece
	for _, test := range pieceTests {
		if !test.sure {
			continue
		}
		event := []byte(test.event)
		d := decoderOf(event)
		d.scan(event, &p)
		if allocs := testing.AllocsPerRun(100, func() { d.scan(event, &p) }); allocs != 0 {
			t.Errorf("%s: %v allocations", test.name, allocs)
		}
	}
}

func FuzzScanAgreesWithEncodingJSON(f *testing.F) {
	for _, test := range pieceTests {
		f.Add([]byte(test.event))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		var scanned, decoded exchange.Piece
		d := decoderOf(event)
		if !d.scan(event, &scanned) || !json.Valid(event) {
			return
		}
		if err := d.decode(event, &decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(saidBy(&decoded), saidBy(&scanned)); diff != "" {
			t.Errorf("%s\nscan (-decode +scan):\n%s", event, diff)
		}
		if decoded.Usage != scanned.Usage {
			t.Errorf("%s\nusage %+v by decode, %+v by scan", event, decoded.Usage, scanned.Usage)
		}
	})
}

func BenchmarkPiece(b *testing.B) {
	for _, test := range pieceTests[:4] {
		b.Run(strings.ReplaceAll(test.name, " ", "-"), func(b *testing.B) {
			event := []byte(test.event)
			var p exchange.Piece
			d := decoderOf(event)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				p.Reset()
				if err := d.Decode(event, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A server that says that it found nothing in its prefix cache differs from one that says nothing.
func TestAZeroOfCachedTokensIsKnown(t *testing.T) {
	for raw, want := range map[string][2]bool{
		`{"prompt_tokens":4,"prompt_tokens_details":{"cached_tokens":0}}`:    {true, true},
		`{"prompt_tokens":4,"prompt_tokens_details":{"cached_tokens":16}}`:   {true, false},
		`{"prompt_tokens":4,"prompt_tokens_details":{"cached_tokens":null}}`: {false, false},
		`{"prompt_tokens":4,"prompt_tokens_details":null}`:                   {false, false},
	} {
		var u exchange.Usage
		if !scanUsage([]byte(raw), &u) || u != usageOf([]byte(raw)) || u.HasCached != want[0] {
			t.Errorf("%s: %+v and %+v", raw, u, usageOf([]byte(raw)))
		}
		if uncounted(t, raw) != want[1] {
			t.Errorf("%s: %t", raw, !want[1])
		}
	}
}

// uncounted reports whether the record of an answer with this usage says that the server found nothing in its cache.
func uncounted(t *testing.T, usage string) bool {
	stream := `data: {"choices":[{"text":"a","finish_reason":"stop"}]}` + "\n\n" + `data: {"choices":[],"usage":` + usage + "}\n\ndata: [DONE]\n\n"
	o := &exchange.Endpoint{URL: "http://server.test/v1/completions", Transport: wiretest.Streaming(stream), Protocol: &exchange.Protocol{Decoder: func() exchange.Decoder { return &Decoder{All: true} }, Marked: true}}
	rec := new(record.Record)
	for _, err := range o.Send(t.Context(), time.Now(), new(engine.Request), rec) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return rec.Tokens.Uncached
}
