package sessions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/servebench/servebench/dataset"
)

// readOTel reads spans, and returns what people are told, too.
func readOTel(t *testing.T, text string, d OTel) (list []*dataset.Conversation, said []string) {
	t.Helper()
	d.Path, d.VocabSize = "f.jsonl", 1000
	d.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	source, n, err := d.read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	checkSessions(t, source, n)
	return pull(t, source), said
}

// told is a session in words, a turn a line.
func told(c *dataset.Conversation) (lines []string) {
	lines = append(lines, fmt.Sprint(c.ID, " due ", *c.Due))
	for i := range c.Turns {
		turn := &c.Turns[i]
		line := fmt.Sprintf("%d %s at %v for %v gap %v, %d to %d", i, turn.Agent, *turn.At, turn.Took, turn.Gap, turn.PromptLen, turn.OutputLen)
		if turn.Tool {
			line += ", a tool"
		}
		for _, wait := range c.WaitsOf(i) {
			line += fmt.Sprintf(", waits for %d", wait.Turn)
			if wait.History != dataset.Nothing {
				line += " and has it"
			}
		}
		for before := range i {
			if n := sharedTokens(&c.Turns[before], turn); n > 0 {
				line += fmt.Sprintf(", shares %d with %d", n, before)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sharedTokens is how many tokens of blocks two prompts begin with alike.
func sharedTokens(a, b *dataset.Turn) (n int) {
	for i := range min(len(a.Blocks), len(b.Blocks)) {
		if a.Blocks[i] != b.Blocks[i] {
			break
		}
		n += int(a.Blocks[i].Tokens)
	}
	return n
}

func TestOTelSpansBecomeSessions(t *testing.T) {
	for _, row := range []struct {
		file string
		want []string
		said []string
	}{
		{"otel-tool.json", []string{
			"5b8aa5a2d2c872e8321cf37308d69df2 due 0",
			"0  at 0 for 1.5 gap 0, 100 to 20",
			"1  at 2.75 for 1.25 gap 1.25, 150 to 30, a tool, waits for 0, shares 100 with 0",
		}, nil},
		// The researcher and the writer work side by side; the lead goes on after both, from its first prompt.
		{"otel-agents.jsonl", []string{
			"5b8aa5a2d2c872e8321cf37308d69df2 due 0",
			"0 lead at 0 for 2 gap 0, 1000 to 50",
			"1 researcher at 3 for 2 gap 1, 400 to 40, a tool, waits for 0",
			"2 writer at 3.5 for 4.5 gap 1.5, 400 to 40, a tool, waits for 0",
			"3 researcher at 7.5 for 1.5 gap 2.5, 700 to 60, a tool, waits for 1, shares 400 with 1",
			"4 writer at 8.5 for 2.5 gap 0.5, 300 to 10, waits for 2",
			"5 lead at 11.5 for 1.5 gap 0.5, 1200 to 80, waits for 3, waits for 4, shares 1000 with 0",
		}, nil},
		{"otel-conversations.jsonl", []string{
			"8f due 0",
			"0  at 0 for 0.75 gap 0, 70 to 7",
			"green due 4.75",
			"0  at 4.75 for 1 gap 0, 40 to 10",
			"1  at 24.75 for 1 gap 19, 90 to 64, waits for 0, shares 40 with 0",
			"blue due 6.75",
			"0  at 6.75 for 1 gap 0, 33 to 1",
			"1  at 14.75 for 1 gap 7, 60 to 9, waits for 0, shares 33 with 0",
		}, []string{
			"f.jsonl: 1 of 8 chats failed without an answer: left out",
			"f.jsonl: 1 of 8 chats have neither token counts nor messages: left out",
			"f.jsonl: 1 of 8 chats are within another chat, which they repeat: left out",
			"f.jsonl: 1 of 8 chats have an answer of no tokens: they ask for one",
			"f.jsonl: 1 request for embeddings: left out",
			"f.jsonl: its chats are for 2 models: all go to the one of the run",
		}},
	} {
		list, said := readOTel(t, sampleText(t, row.file), OTel{})
		var got []string
		for _, c := range list {
			got = append(got, told(c)...)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: sessions (-want +got)\n%s", row.file, diff)
		}
		if diff := cmp.Diff(row.said, said); diff != "" {
			t.Errorf("%s: notices (-want +got)\n%s", row.file, diff)
		}
	}
}

func TestOTelMessagesAreSentAsTheyAre(t *testing.T) {
	text := sampleText(t, "otel-texts.jsonl")
	list, said := readOTel(t, text, OTel{Text: true, Options: dataset.Options{Tokenizer: stub}})
	c := list[0]
	var sent []string
	for i := range c.Turns {
		turn, err := c.Prompted(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, string(turn.Messages), fmt.Sprint(turn.PromptLen, " ", turn.OutputLen, " ", turn.Tool, " ", turn.Prompt == ""), string(turn.Answer))
	}
	const call = `{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\",\"days\":1}"}}]}`
	want := []string{
		`[{"role":"system","content":"Be <brief>."},{"role":"user","content":"Weather in Paris?"}]`, "14 6 false true", call,
		`[{"role":"user","content":"Weather in Paris?"},` + call + `,{"role":"tool","content":"{\"sky\":\"rain\"}","tool_call_id":"call_1"}]`,
		fmt.Sprint(stub.Count("Weather in Paris?", true)+stub.Count(`{"sky":"rain"}`, false), " ", stub.Count("Rain, all day.", false), " true true"),
		`{"role":"assistant","content":"Rain, all day."}`,
		"", "50 5 false false", "",
		`[{"role":"user","content":"What is\nthis?"}]`, fmt.Sprint(stub.Count("What is\nthis?", true), " 5 false true"), "",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
	notices := []string{
		"f.jsonl: 1 of 4 chats have messages that cannot be read, such as those that were cut: their lengths are sent",
		"f.jsonl: 1 of 4 chats have messages with other parts than texts and tools: without those parts",
	}
	if !slices.Equal(said, notices) {
		t.Errorf("notices %q, want %q", said, notices)
	}
	list, _ = readOTel(t, text, OTel{})
	if got := list[0].Turns[0].Prompt; got != "Be <brief>.\nWeather in Paris?" {
		t.Errorf("the text of messages is %q", got)
	}
}

// otelLine is a line with a chat of one trace.
func otelLine(id, parent string, start, end, in, out int, more string) string {
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":%q,"parentSpanId":%q,"startTimeUnixNano":%d,"endTimeUnixNano":"%d","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":%d}},{"key":"gen_ai.usage.output_tokens","value":{"doubleValue":%d}}%s]}]}]}]}`,
		id, parent, start*1e9, end*1e9, in, out, more) + "\n"
}

func otelCached(n int) string {
	return fmt.Sprintf(`,{"key":"gen_ai.usage.cache_read.input_tokens","value":{"intValue":"%d"}}`, n)
}

// Chats without agents: two that run side by side after the first, and one that joins them.
func TestOTelWithoutAgentsGoesByTime(t *testing.T) {
	list, said := readOTel(t, otelLine("4", "", 6, 7, 700, 9, "")+otelLine("2", "", 2, 5, 300, 5, "")+otelLine("1", "", 0, 1, 500, 10, "")+
		otelLine("3", "", 2, 4, 520, 5, "")+otelLine("5", "", 8, 9, 800, 1, otelCached(130))+otelLine("5", "", 8, 9, 800, 1, "")+
		otelLine("6", "", 10, 11, 10, 2, otelCached(900)), OTel{})
	want := []string{
		"t due 0",
		"0  at 0 for 1 gap 0, 500 to 10",
		"1  at 2 for 2 gap 1, 520 to 5, waits for 0, shares 500 with 0",
		"2  at 2 for 3 gap 1, 300 to 5, waits for 0",
		"3  at 6 for 1 gap 1, 700 to 9, waits for 1, waits for 2, shares 300 with 2",
		"4  at 8 for 1 gap 1, 800 to 1, waits for 3, shares 130 with 2, shares 130 with 3",
		"5  at 10 for 1 gap 1, 910 to 2, waits for 4, shares 130 with 2, shares 130 with 3, shares 800 with 4",
	}
	if diff := cmp.Diff(want, told(list[0])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if notices := []string{
		"f.jsonl: 1 of 7 chats are in the file before: left out",
		"f.jsonl: 1 of 7 chats have more cached input tokens than input tokens: the sum is sent",
	}; !slices.Equal(said, notices) {
		t.Errorf("notices %q, want %q", said, notices)
	}
}

// The third prompt is too short to go on from the second, and the first one has gone on already.
func TestOTelShorterPromptsBeginAnew(t *testing.T) {
	list, _ := readOTel(t, otelLine("1", "", 0, 1, 100, 10, "")+otelLine("2", "", 2, 3, 200, 10, "")+otelLine("3", "", 4, 5, 150, 10, "")+
		otelLine("4", "", 6, 7, 170, 10, ""), OTel{})
	want := []string{
		"t due 0",
		"0  at 0 for 1 gap 0, 100 to 10",
		"1  at 2 for 1 gap 1, 200 to 10, waits for 0, shares 100 with 0",
		"2  at 4 for 1 gap 1, 150 to 10, waits for 1",
		"3  at 6 for 1 gap 1, 170 to 10, waits for 2, shares 150 with 2",
	}
	if diff := cmp.Diff(want, told(list[0])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Two traces of one conversation: an agent goes on in the second one, and a chat without the
// conversation is of the one that its trace has. Two writers side by side do not share.
func TestOTelAgentsGoOnInAnotherTrace(t *testing.T) {
	agent := func(trace, id, name, conversation string) string {
		return fmt.Sprintf(`{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"traceId":%q,"spanId":%q,"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":%q}},{"key":"gen_ai.conversation.id","value":{"stringValue":%q}}]}],"schemaUrl":"x"}]}]}`,
			trace, id, name, conversation) + "\n"
	}
	later := func(line string) string { return strings.Replace(line, `"traceId":"t"`, `"traceId":"u"`, 1) }
	list, _ := readOTel(t, otelLine("2", "1", 0, 1, 100, 10, "")+later(otelLine("2", "1", 20, 21, 200, 10, ""))+agent("t", "1", "lead", "c")+agent("u", "1", "lead", "c")+
		otelLine("4", "3", 2, 4, 50, 5, "")+agent("t", "3", "writer", "c")+otelLine("6", "5", 3, 5, 60, 5, "")+otelLine("7", "5", 6, 7, 70, 5, "")+agent("t", "5", "writer", "c"), OTel{})
	want := []string{
		"c due 0",
		"0 lead at 0 for 1 gap 0, 100 to 10",
		"1 writer at 2 for 2 gap 1, 50 to 5, waits for 0",
		"2 writer at 3 for 2 gap 2, 60 to 5, waits for 0",
		"3 writer at 6 for 1 gap 1, 70 to 5, waits for 2, shares 60 with 2",
		"4 lead at 20 for 1 gap 13, 200 to 10, waits for 1, waits for 3, shares 100 with 0",
	}
	if len(list) != 1 {
		t.Fatalf("%d sessions", len(list))
	}
	if diff := cmp.Diff(want, told(list[0])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBadOTelIsNamedWithItsLine(t *testing.T) {
	good := otelLine("1", "", 0, 1, 5, 1, "")
	for _, row := range []struct{ text, want string }{
		{"", ": none of 0 spans in resourceSpans is a chat (gen_ai.operation.name) with token counts or messages"},
		{`{"resourceSpans":null}{"resourceSpans":[{"scopeSpans":[{"spans":null},{"spans":[{"name":"GET"}]}]}]}`, ": none of 1 span in resourceSpans is a chat (gen_ai.operation.name) with token counts or messages"},
		{good + "\n{\"resourceSpans\":[{\n", ":4: unexpected EOF"},
		{good + "[]", ":2: not a JSON object"},
		{good + `{"resourceSpans":{}}`, `:2: "resourceSpans" is not a list`},
		{good + `{"resourceSpans":[7]}`, `:2: "resourceSpans" has an element that is not an object`},
		{good + `{"resourceSpans":[}`, ":2: invalid character '}' looking for beginning of value"},
		{good + `{"x":` + "\n" + `[1,` + "\n" + `]}`, ":4: invalid character ']' looking for beginning of value"},
		{good + strings.Replace(good, `"endTimeUnixNano":"1000000000"`, `"endTimeUnixNano":"soon"`, 1), `:2: "endTimeUnixNano" is "soon": must be a whole number of nanoseconds since 1970`},
		{good + strings.Replace(good, `"startTimeUnixNano":0`, `"startTimeUnixNano":false`, 1), `:2: startTimeUnixNano: unexpected JSON bool`},
		{good + otelLine("2", "", 3, 1, 5, 1, ""), ":2: the span ends 2s before its start"},
		{good + otelLine("2", "", 3, 4, -5, 1, ""), `:2: "gen_ai.usage.input_tokens" is "-5": must be a whole number of tokens from 0 to below 2²⁸`},
		{good + otelLine("2", "", 3, 4, 5, -1, ""), `:2: "gen_ai.usage.output_tokens" is "-1": must be a whole number of tokens from 0 to below 2²⁸`},
		{good + strings.Replace(good, `"traceId":"t"`, `"traceId":""`, 1), `:2: no "traceId"`},
		{strings.Replace(sampleText(t, "otel-tool.json"), `"150"`, `"x"`, 1), `:116: "gen_ai.usage.input_tokens" is "x": must be a whole number of tokens from 0 to below 2²⁸`},
	} {
		_, _, err := OTel{Options: dataset.Options{Path: "f.jsonl", VocabSize: 9}}.read(strings.NewReader(row.text))
		if want := "f.jsonl" + row.want; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Prompts that are minted have their lengths, and begin alike where they share.
func TestOTelPromptsAreMinted(t *testing.T) {
	d := OTel{Options: dataset.Options{Path: filepath.Join("testdata", "otel-agents.jsonl"), VocabSize: 1000, Num: 1}}
	for _, c := range collect(t, d.Open) {
		first, err := c.Prompted(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		last, err := c.Prompted(5, nil)
		if err != nil || len(last.TokenIDs) != 1200 || !slices.Equal(first.TokenIDs, last.TokenIDs[:1000]) {
			t.Errorf("%d tokens, %v", len(last.TokenIDs), err)
		}
	}
}

func FuzzOTel(f *testing.F) {
	for _, sample := range []string{"otel-tool.json", "otel-agents.jsonl", "otel-conversations.jsonl", "otel-texts.jsonl"} {
		f.Add(sampleText(f, sample))
	}
	f.Add(otelLine("1", "2", 0, 0, 3, 0, "") + otelLine("2", "1", 0, 0, 3, 0, otelCached(3)))
	f.Fuzz(func(t *testing.T, text string) {
		source, n, err := OTel{Options: dataset.Options{Path: "f.json", VocabSize: 9}}.read(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		checkSessions(t, source, n)
	})
}

// The longest way is of an agent that calls no tool, while another one does.
func TestOTelToolsAreOfTheirAgents(t *testing.T) {
	agent := func(id, name string) string {
		return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":%q,"startTimeUnixNano":0,"endTimeUnixNano":"20000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":%q}}]}]}]}]}`, id, name)
	}
	const tool = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"9","parentSpanId":"b","startTimeUnixNano":"3000000000","endTimeUnixNano":"9000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}]}]}]}`
	list, _ := readOTel(t, agent("a", "A")+agent("b", "B")+tool+otelLine("1", "a", 0, 2, 50, 5, "")+otelLine("2", "a", 10, 12, 60, 5, "")+
		otelLine("3", "b", 0, 2, 50, 5, "")+otelLine("4", "b", 10, 11, 60, 5, ""), OTel{})
	for i, turn := range list[0].Turns {
		if want := turn.Agent == "B" && turn.Gap > 0; turn.Tool != want {
			t.Errorf("turn %d of %s after %v s: a tool %t", i, turn.Agent, turn.Gap, turn.Tool)
		}
	}
}

func TestOTelKeepsPromptsWhoseAnswersAreCut(t *testing.T) {
	const said = `,{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assist"}}`
	unended := strings.Replace(otelLine("2", "", 3, 4, 5, 1, ""), `"endTimeUnixNano":"4000000000"`, `"endTimeUnixNano":"0"`, 1)
	missing := strings.Replace(otelLine("3", "", 3, 4, 5, 1, ""), `"endTimeUnixNano":"4000000000",`, "", 1)
	list, notices := readOTel(t, otelLine("1", "", 0, 1, 5, 7, said)+unended+missing, OTel{Text: true})
	if turn := &list[0].Turns[0]; len(list[0].Turns) != 1 || string(turn.Messages) != `[{"role":"user","content":"Hi"}]` || turn.OutputLen != 7 || turn.Answer != nil {
		t.Errorf("%+v", list[0].Turns)
	}
	if want := []string{"f.jsonl: 2 of 3 chats have no end: left out", "f.jsonl: 1 of 3 chats have an answer that cannot be read: their prompts are sent"}; !slices.Equal(notices, want) {
		t.Errorf("%q", notices)
	}
}

// The spans of two jobs of an agent, as OpenTelemetry's SDK for Python 1.45.2 and its instrumentation of OpenAI's client
// 2.4b0 record them: three chats, the last one streamed, with a tool of 0.15 s between two of them. The third kind of
// span is of embeddings.
func TestOTelOfThePythonSDKIsRead(t *testing.T) {
	list, said := readOTel(t, sampleText(t, "otel-python-sdk.jsonl"), OTel{Text: true})
	if len(list) != 2 || !slices.Equal(said, []string{"f.jsonl: 1 request for embeddings: left out"}) {
		t.Fatalf("%d sessions, %q", len(list), said)
	}
	for _, c := range list {
		if len(c.Turns) != 3 {
			t.Fatalf("%d turns", len(c.Turns))
		}
		for i, want := range []int{17, 39, 61} {
			turn := &c.Turns[i]
			gapped := i == 0 && turn.Gap == 0 || turn.Gap >= 0.15 && turn.Gap < 0.2
			if turn.PromptLen != want || turn.OutputLen != 12 || !gapped || turn.Tool != (i > 0) || strings.Count(string(turn.Messages), `"role"`) != 2*i+2 {
				t.Errorf("turn %d: %d to %d tokens after %v s, %s", i, turn.PromptLen, turn.OutputLen, turn.Gap, turn.Messages)
			}
		}
	}
}

// Spans by conventions of before say a model and tokens, but not what they do. Embeddings have no output.
func TestOTelOfAModelWithAnAnswerIsAChat(t *testing.T) {
	const said = `{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}`
	const model = `{"key":"gen_ai.request.model","value":{"stringValue":"m"}}`
	chat := strings.Replace(otelLine("1", "", 0, 1, 5, 7, ""), said, model, 1)
	embedding := strings.Replace(strings.Replace(otelLine("2", "", 1, 2, 5, 7, ""), said, model, 1),
		`,{"key":"gen_ai.usage.output_tokens","value":{"doubleValue":7}}`, "", 1)
	other := strings.Replace(otelLine("3", "", 2, 3, 5, 7, ""), said+",", "", 1)
	list, _ := readOTel(t, chat+embedding+other, OTel{})
	if len(list) != 1 || len(list[0].Turns) != 1 || list[0].Turns[0].PromptLen != 5 || list[0].Turns[0].OutputLen != 7 {
		t.Errorf("%+v", list)
	}
}
