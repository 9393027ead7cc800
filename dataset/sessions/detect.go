package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A Guess is what a file was taken for.
type Guess struct {
	Dataset string // as --dataset-name takes it
	Why     string // what was found in the file, and which other names would read it, too
}

// Detect guesses the format of a file from its first record, or from its first line if it is CSV. A
// format that is not read here is an error that names it.
func Detect(path string) (Guess, error) {
	f, err := os.Open(path)
	if err != nil {
		return Guess{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return Guess{}, fmt.Errorf("%s: it is a folder: give the file itself, or --dataset-name speed_bench", path)
	}
	g, err := detect(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return g, err
}

// detectBytes is how much of a file is read to see its first record.
const detectBytes = 64 << 20

func detect(r io.Reader) (Guess, error) {
	head := new(bytes.Buffer)
	r = io.LimitReader(r, detectBytes)
	if _, err := io.CopyN(head, r, 1<<12); err != nil && err != io.EOF {
		return Guess{}, err
	}
	text := bytes.TrimLeft(head.Bytes(), "\ufeff \t\r\n")
	switch {
	case len(text) == 0:
		return Guess{}, errors.New("the file is empty")
	case text[0] != '{' && text[0] != '[':
		return detectTable(string(text))
	case text[0] == '{' && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte(`"resourceSpans"`)):
		// This object may be the whole file, of any size.
		return Guess{"otel", `the first object has "resourceSpans"`}, nil
	}
	dec := json.NewDecoder(pyjson.Strict(io.MultiReader(bytes.NewReader(text), r)))
	where := "the first object"
	if text[0] == '[' {
		where = "the first element"
		if _, err := dec.Token(); err != nil {
			return Guess{}, err
		}
		if !dec.More() {
			return Guess{}, errors.New("the list is empty, or it is cut")
		}
	}
	var fields map[string]json.RawMessage
	if err := dec.Decode(&fields); err != nil {
		return Guess{}, fmt.Errorf("%s is not a JSON object: say what the file is with --dataset-name", where)
	}
	return detectRecord(fields, text[0] == '[', where)
}

// detectTable guesses from the first line of a file that is not JSON.
func detectTable(text string) (Guess, error) {
	line, _, _ := strings.Cut(text, "\n")
	columns := strings.Split(strings.TrimSpace(line), ",")
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(columns, name) })
	}
	switch {
	case has("TIMESTAMP", "ContextTokens", "GeneratedTokens"):
		return Guess{"azure", "its columns are TIMESTAMP, ContextTokens and GeneratedTokens"}, nil
	case has("Model", "Request tokens", "Response tokens"):
		return Guess{"burstgpt", `it has the columns "Model", "Request tokens" and "Response tokens"`}, nil
	}
	return Guess{}, errors.New("neither JSON nor a table whose columns are known: say what the file is with " +
		"--dataset-name, such as sonnet for lines of text")
}

// A format is what a record is taken for if it has all these fields.
type format struct {
	list    bool     // as an element of a list
	fields  []string // after a colon, how a field's value begins, without white space
	dataset string   // empty if it is not read here
	also    string   // what else may be meant, and the rule
}

// formats are tried in this order.
var formats = []format{
	{true, []string{"id", "messages:["}, "conversations", ""},
	{true, []string{"conversations:["}, "sharegpt",
		"With --multi-turn all turns are sent, without it the first questions"},
	{false, []string{"filetype"}, "", "recipes of vLLM's benchmarks/multi_turn"},
	{false, []string{"v", "k", "run"}, "file", "It is the record stream of a run"},
	{false, []string{"id", "requests:["}, "weka", ""},
	{false, []string{"spans:["}, "", "spans of OpenTelemetry, but not in the form of OTLP"},
	{false, []string{"conversations:["}, "", "SGLang's agentic traces"},
	{false, []string{"chat_id", "parent_chat_id"}, "", "Bailian's traces"},
	{false, []string{"session_id", `turns:[{"messages"`}, "", "AIPerf's DAG files"},
	{false, []string{"category", "turns:["}, "spec_bench", ""},
	{false, []string{"turns:["}, "multi_turn", ""},
	{false, []string{"hash_ids:[", "input_length", "session_id"}, "mooncake", ""},
	{false, []string{"hash_ids:[", "input_length"}, "mooncake",
		"timed_trace reads such a file, too, as vLLM does: without sessions, and with prompts cut to their hash ids"},
	{false, []string{"input_length"}, "mooncake", ""},
	{false, []string{"text_input"}, "mooncake", ""},
	{false, []string{"session", "turn"}, "file", ""},
	{false, []string{"session", "output_len"}, "file", ""},
	{false, []string{"output_len", "prompt_len"}, "file", ""},
	{false, []string{"output_len", "token_ids:["}, "file", ""},
	{false, []string{"output_len", "prompt"}, "file", `custom reads such a file, too, but not its "output_len"`},
	{false, []string{"output_len", "messages:["}, "file", ""},
	{false, []string{"prompt"}, "custom", ""},
	{false, []string{"messages:["}, "mooncake", "speed_bench has such lines, too, but is a folder"},
}

// detectRecord guesses from the first record of a JSON file.
func detectRecord(fields map[string]json.RawMessage, list bool, where string) (Guess, error) {
	has := func(field string) bool {
		name, begins, _ := strings.Cut(field, ":")
		var value bytes.Buffer
		return json.Compact(&value, fields[name]) == nil && bytes.HasPrefix(value.Bytes(), []byte(begins))
	}
	for _, f := range formats {
		if f.list != list || slices.ContainsFunc(f.fields, func(field string) bool { return !has(field) }) {
			continue
		}
		var names []string
		for _, field := range f.fields {
			name, _, _ := strings.Cut(field, ":")
			names = append(names, fmt.Sprintf("%q", name))
		}
		why := where + " has " + joinedNames(names)
		if f.dataset == "" {
			return Guess{}, fmt.Errorf("%s: these are %s, which are not read yet", why, f.also)
		}
		if f.also != "" {
			why += ". " + f.also
		}
		return Guess{f.dataset, why}, nil
	}
	return Guess{}, fmt.Errorf("%s has fields of no known format: say what the file is with --dataset-name", where)
}

// joinedNames is a, b and c.
func joinedNames(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}
