package kinds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
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
	case bytes.HasPrefix(text, []byte("\x1f\x8b")) || bytes.HasPrefix(text, []byte("\x28\xb5\x2f\xfd")):
		return Guess{}, errors.New("the file is compressed: give it without compression")
	case text[0] != '{' && text[0] != '[':
		return detectTable(string(text))
	}
	if name := firstKey(text); name != "" {
		for _, k := range all {
			if slices.ContainsFunc(k.Forms, func(f Form) bool { return f.First == name }) {
				return Guess{k.Name, fmt.Sprintf("the first object has %q", name)}, nil
			}
		}
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
	for _, k := range all {
		for _, f := range k.Forms {
			if f.Columns != nil && has(f.Columns...) {
				return Guess{k.Name, "it has the columns " + quoted(f.Columns)}, nil
			}
		}
	}
	return Guess{}, errors.New("neither JSON nor a table whose columns are known: say what the file is with " +
		"--dataset-name, such as sonnet for lines of text")
}

// A Form is what the files of a kind look like, by their first record, or by their first line if they are CSV.
type Form struct {
	List    bool     // the record is an element of a list
	Fields  []string // of the record; after a colon, how a value begins, without white space
	Columns []string // of the first line, in place of Fields
	First   string   // in place of Fields, the first field of an object that may be the whole file
	Also    string   // what else may be meant, and the rule
}

// unread are forms of files that no kind reads. Also names them.
var unread = []Form{
	{Fields: []string{"filetype"}, Also: "recipes of vLLM's benchmarks/multi_turn"},
	{Fields: []string{"spans:["}, Also: "spans of OpenTelemetry, but not in the form of OTLP"},
	{Fields: []string{"conversations:["}, Also: "SGLang's agentic traces"},
	{Fields: []string{"chat_id", "parent_chat_id"}, Also: "Bailian's traces"},
	{Fields: []string{"session_id", `turns:[{"messages"`}, Also: "AIPerf's DAG files"},
}

// detectRecord guesses from the first record of a JSON file. The form with the most fields wins. Of equal ones, forms
// that no kind reads come first, and then kinds in their order.
func detectRecord(fields map[string]json.RawMessage, list bool, where string) (Guess, error) {
	has := func(field string) bool {
		name, begins, _ := strings.Cut(field, ":")
		var value bytes.Buffer
		return json.Compact(&value, fields[name]) == nil && bytes.HasPrefix(value.Bytes(), []byte(begins))
	}
	var found Form
	var of *Kind
	take := func(k *Kind, forms []Form) {
		for _, f := range forms {
			if f.List == list && len(f.Fields) > len(found.Fields) && !slices.ContainsFunc(f.Fields, func(field string) bool {
				return !has(field)
			}) {
				found, of = f, k
			}
		}
	}
	take(nil, unread)
	for _, k := range all {
		take(k, k.Forms)
	}
	if found.Fields == nil {
		return Guess{}, fmt.Errorf("%s has fields of no known format: say what the file is with --dataset-name", where)
	}
	var names []string
	for _, field := range found.Fields {
		name, _, _ := strings.Cut(field, ":")
		names = append(names, name)
	}
	why := where + " has " + quoted(names)
	if of == nil {
		return Guess{}, fmt.Errorf("%s: these are %s, which are not read yet", why, found.Also)
	}
	if found.Also != "" {
		why += ". " + found.Also
	}
	return Guess{of.Name, why}, nil
}

// firstKey is the first key of an object; empty for anything else.
func firstKey(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return ""
	}
	key, err := dec.Token()
	name, isText := key.(string)
	if err != nil || !isText {
		return ""
	}
	return name
}

// quoted is "a", "b" and "c".
func quoted(names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = strconv.Quote(name)
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return texts[0]
}
