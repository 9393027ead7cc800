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

// words is a text of n words of the stub tokenizer.
func words(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "tok%d ", i%stub.Size)
	}
	return text.String()
}

func TestGeneratedConversationsHaveNumpysLengths(t *testing.T) {
	want := about[struct {
		Common        int `json:"common_prefix_tokens"`
		Requests      int
		Conversations []struct {
			ID     string
			Turns  int   `json:"user_turns"`
			Prefix int   `json:"prefix_tokens"`
			User   []int `json:"user_tokens"`
			Answer []int `json:"answer_tokens"`
		}
		Turns struct {
			Mean, Std float64
			Max       int
		} `json:"input_num_turns"`
	}](t, "vllm-generate.json")
	config, err := os.ReadFile("testdata/vllm-generate.json")
	if err != nil {
		t.Fatal(err)
	}
	path := saved(t, "generate.json", string(config))
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "words.txt"), []byte(words(60000)), 0o666); err != nil {
		t.Fatal(err)
	}
	got := all(t, Conversations{Options: dataset.Options{Path: path, Tokenizer: stub}, Chat: true})
	if len(got) != len(want.Conversations) {
		t.Fatalf("%d conversations", len(got))
	}
	var positions []float64
	for i, c := range got {
		w := want.Conversations[i]
		if c.ID != w.ID || len(c.Turns) != w.Turns {
			t.Fatalf("conversation %s has %d turns, want %s with %d", c.ID, len(c.Turns), w.ID, w.Turns)
		}
		for k, turn := range c.Turns {
			positions = append(positions, float64(2*k+1))
			var messages []message
			if err := json.Unmarshal(turn.Messages, &messages); err != nil {
				t.Fatal(err)
			}
			tokens := w.User[k]
			if k == 0 {
				// The common prefix is longer than the question, which then has 5 + 9 words only. Twice, a
				// word joins the one after it, as the script puts no space there.
				tokens = want.Common - 2 + 5 - 1 + 1 + w.Prefix - 1 + 9
			}
			if n := stub.Count(messages[0].Content, false); n != tokens {
				t.Errorf("%s/%d has %d tokens, want %d", c.ID, k, n, tokens)
			}
			if turn.OutputLen != w.Answer[k] {
				t.Errorf("%s/%d asks for %d tokens, want %d", c.ID, k, turn.OutputLen, w.Answer[k])
			}
		}
	}
	sum, squares := 0., 0.
	for _, p := range positions {
		sum += p
		squares += p * p
	}
	n := float64(len(positions))
	mean := sum / n
	std := math.Sqrt((squares - n*mean*mean) / (n - 1))
	if len(positions) != want.Requests || fmt.Sprintf("%.2f %.2f", mean, std) != fmt.Sprintf("%.2f %.2f", want.Turns.Mean, want.Turns.Std) {
		t.Errorf("%d requests at %.2f ± %.2f, want %d at %v ± %v", len(positions), mean, std, want.Requests, want.Turns.Mean, want.Turns.Std)
	}
}

// The golden file has the texts of vLLM 0.33.0's benchmarks/multi_turn/bench_dataset.py, with numpy
// 2.4.6, seed 5 and the same tokenizer.
func TestGeneratedTextsAreTheScripts(t *testing.T) {
	tok, err := tokenizer.Open("../../testdata/golden/tok-bos")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/expected/vllm-script.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(golden)), "\n")
	for _, c := range all(t, Conversations{Options: dataset.Options{Path: "testdata/vllm-script.json", Seed: 5, Tokenizer: tok}, Chat: true}) {
		for k, turn := range c.Turns {
			if len(lines) == 0 {
				t.Fatalf("%s/%d is one too many", c.ID, k)
			}
			var want struct {
				ID              string
				Turn            int
				Content, Answer string
				N               int // tokens of the answer
			}
			if err := json.Unmarshal([]byte(lines[0]), &want); err != nil {
				t.Fatal(err)
			}
			lines = lines[1:]
			if c.ID != want.ID || k != want.Turn || string(turn.Messages) != string(asJSON([]message{{"user", want.Content}})) {
				t.Errorf("%s/%d is %s\nwant %s/%d %q", c.ID, k, turn.Messages, want.ID, want.Turn, want.Content)
			}
			if *said(t, turn.Answer) != want.Answer || turn.OutputLen != want.N {
				t.Errorf("%s/%d asks for %d tokens, want %d", c.ID, k, turn.OutputLen, want.N)
			}
		}
	}
	if len(lines) > 0 {
		t.Errorf("%d turns are missing", len(lines))
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
		{`{"filetype":"x"}`, `: "filetype" is "x" instead of "generate_conversations"`},
		{`{"filetype":"generate_conversations"}`, `: "num_conversations" is 0: must be at least 1`},
		{`{"filetype":"generate_conversations","num_conversations":1,"text_files":["w"]}`, `: no "prompt_input.num_turns"`},
		{`{"filetype":"generate_conversations","num_conversations":1,"text_files":["w"],"prompt_input":{"num_turns":{"distribution":"uniform","min":1.5,"max":2}}}`,
			`: prompt_input.num_turns: uniform: "min" and "max" must be whole numbers, "min" at least 1 and not above "max"`},
	} {
		path := saved(t, "f.json", row.text)
		if _, _, err := (Conversations{Options: dataset.Options{Path: path, Tokenizer: stub}}).Open(); err == nil || err.Error() != path+row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func TestGeneratorSaysHowMuchTextItNeeds(t *testing.T) {
	path := saved(t, "g.json", `{"filetype":"generate_conversations","num_conversations":2,"text_files":["w.txt"],
"prompt_input":{"num_turns":{"distribution":"constant","value":2},"num_tokens":{"distribution":"constant","value":24},"prefix_num_tokens":{"distribution":"constant","value":0}},
"prompt_output":{"num_tokens":{"distribution":"constant","value":3}}}`)
	file := filepath.Join(filepath.Dir(path), "w.txt")
	// Of a message of 24 tokens, 5 and 9 are its own words. The second conversation begins 2 tokens
	// after the first.
	for n, want := range map[int]string{
		12: path + ": the text files have 12 tokens, and conversation 1 needs more than 12: give more text, or smaller lengths",
		13: "",
	} {
		if err := os.WriteFile(file, []byte(words(n)), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := Conversations{Options: dataset.Options{Path: path, Tokenizer: stub}}.Open()
		if fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("with %d tokens: error %v, want %s", n, err, want)
		}
	}
}

// The sums are those of numpy 2.4.6.
func TestSumsAreNumpys(t *testing.T) {
	for n, want := range map[int]float64{7: 1.328968253968254, 24: 2.3544197162150455, 131: 3.9713194806204744, 1000: 5.987467865541362, 4099: 7.396323706821208} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1 / float64(i+3)
		}
		if got := pairwiseSum(values); got != want {
			t.Errorf("the sum of %d numbers is %v, want %v", n, got, want)
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
	for _, sample := range []string{"vllm-multi-turn.json", "vllm-generate.json"} {
		text, err := os.ReadFile("testdata/" + sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
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
