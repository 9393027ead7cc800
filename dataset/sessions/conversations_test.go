package sessions

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
)

var stub = tokenizer.Stub{Size: 32000}

// about reads what is written about a sample.
func about[T any](t *testing.T, sample string) (want T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "expected", sample+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

func saved(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

type opener interface {
	Open() (dataset.Source, int, error)
}

// all reads all sessions, and makes sure that they are as many as Open says.
func all(t *testing.T, d opener) []*dataset.Conversation {
	t.Helper()
	source, n, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	var list []*dataset.Conversation
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	if len(list) != n {
		t.Fatalf("%d sessions, and Open says %d", len(list), n)
	}
	i := 0
	for c, err := range source { // it begins again
		if err != nil || i == n || c.ID != list[i].ID || !reflect.DeepEqual(c.Turns, list[i].Turns) {
			t.Fatalf("the second time, session %d is another (%v)", i, err)
		}
		i++
	}
	if i != n {
		t.Errorf("the second time there are %d sessions of %d", i, n)
	}
	return list
}

// said is the content of a message.
func said(t *testing.T, m json.RawMessage) *string {
	t.Helper()
	if m == nil {
		return nil
	}
	var got struct {
		Role    string
		Content *string
	}
	if err := json.Unmarshal(m, &got); err != nil || got.Role != "assistant" {
		t.Fatalf("answer %s: %v", m, err)
	}
	return got.Content
}

func TestVLLMConversationsAreTurnsByTurn(t *testing.T) {
	type request struct {
		ID         string
		OutputText *string `json:"output_text"`
		Messages   int
	}
	want := about[struct{ Requests []request }](t, "vllm-multi-turn.json").Requests
	var got []request
	d := Conversations{Options: dataset.Options{Path: "testdata/vllm-multi-turn.json", Tokenizer: stub}, Chat: true}
	for _, c := range all(t, d) {
		for i, turn := range c.Turns {
			whole, err := c.Prompted(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			var messages []message
			if err := json.Unmarshal(whole.Messages, &messages); err != nil {
				t.Fatal(err)
			}
			tokens := 0
			for _, m := range messages {
				tokens += stub.Count(m.Content, false)
			}
			if turn.PromptLen != tokens {
				t.Errorf("%s/%d has %d tokens, want %d", c.ID, i, turn.PromptLen, tokens)
			}
			text := said(t, turn.Answer)
			length := 0 // without a recorded answer, the server decides
			if text != nil {
				length = stub.Count(*text, false)
			}
			if turn.OutputLen != length {
				t.Errorf("%s/%d asks for %d tokens, want %d", c.ID, i, turn.OutputLen, length)
			}
			got = append(got, request{fmt.Sprintf("%s/%d", c.ID, i), text, len(messages)})
		}
	}
	if a, b := asJSON(got), asJSON(want); string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func TestBadConversationsAreNamedWithTheirLine(t *testing.T) {
	good := `{"id":"a","messages":[{"role":"user","content":"q"}]}`
	for _, row := range []struct{ text, want string }{
		{"", ":1: the file is empty"},
		{"[]", ": it has no conversations"},
		{"[" + good + ",\n\n{", ":3: unexpected EOF"},
		{"[" + good + ",\n" + good + "]", `:2: conversation 2 ("a"): another conversation has the same id`},
		{`[{"messages":[]}]`, `:1: conversation 1: no "id"`},
		{`[{"id":"a","messages":[]}]`, `:1: conversation 1 ("a"): no message of a user`},
		{`[{"id":"a","messages":[{"role":"assistant","content":"q"}]}]`, `:1: conversation 1 ("a"): message 1 has the "role" "assistant" instead of "user"`},
		{`[{"id":"a","messages":[{"role":"user","content":"q"},{"role":"user","content":"q"}]}]`, `:1: conversation 1 ("a"): message 2 has the "role" "user" instead of "assistant"`},
		{`[{"id":"a","messages":[{"role":"user"}]}]`, `:1: conversation 1 ("a"): message 1 has no "content"`},
		{`[{"id":"a","messages":[{"role":"user","content":["q"]}]}]`, ":1: messages.content: unexpected JSON array"},
		{`{"filetype":"generate_conversations"}`, `: a recipe of vLLM's benchmarks/multi_turn is not read: use --dataset-name sessions, or a list of conversations`},
	} {
		path := saved(t, "f.json", row.text)
		if _, _, err := (Conversations{Options: dataset.Options{Path: path, Tokenizer: stub}}).Open(); err == nil || err.Error() != path+row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func TestOfConversationsTheFirstAreTaken(t *testing.T) {
	for _, row := range []struct {
		num, maxTurns int
		want          []int
	}{{0, 0, []int{2, 2}}, {1, 0, []int{2}}, {5, 1, []int{1, 1}}} {
		var got []int
		d := Conversations{Options: dataset.Options{Path: "testdata/vllm-multi-turn.json", Num: row.num}, MaxTurns: row.maxTurns}
		for _, c := range all(t, d) {
			got = append(got, len(c.Turns))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("with Num %d and MaxTurns %d: turns %v, want %v", row.num, row.maxTurns, got, row.want)
		}
	}
}

func FuzzConversations(f *testing.F) {
	text, err := os.ReadFile("testdata/vllm-multi-turn.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(folder, "f.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, path, Conversations{Options: dataset.Options{Path: path, Num: 5, Tokenizer: stub}})
	})
}

// wellFormed makes sure that what can be opened can be read, and that an error names the file.
func wellFormed(t *testing.T, path string, d opener) {
	t.Helper()
	source, _, err := d.Open()
	if err != nil {
		if !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("the error does not name the file: %v", err)
		}
		return
	}
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Turns) == 0 {
			t.Error("a session without turns")
		}
		for i := range c.Turns {
			for _, wait := range c.WaitsOf(i) {
				if wait.Turn < 0 || wait.Turn >= i {
					t.Errorf("turn %d waits for turn %d", i, wait.Turn)
				}
			}
			if gap := c.Turns[i].Gap; !(gap >= 0) || math.IsInf(gap, 0) {
				t.Errorf("turn %d has a gap of %v s", i, gap)
			}
		}
	}
}
