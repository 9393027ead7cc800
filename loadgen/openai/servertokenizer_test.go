package openai

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/wire"
)

// recordedTokenizer plays the replies of a file, each to the request that it answered. It counts the
// calls, and refuses a request that the file does not have.
func recordedTokenizer(t *testing.T, file string, calls *atomic.Int32) *Server {
	recorded, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	replies := map[string]string{}
	for lines := bufio.NewScanner(recorded); lines.Scan(); {
		var line struct{ Path, Request, Reply string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		replies[line.Path+line.Request] = line.Reply
	}
	return serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		reply, known := replies[r.URL.Path+string(body)]
		if !known {
			http.Error(w, "not recorded: "+string(body), http.StatusNotFound)
		}
		_, _ = io.WriteString(w, reply)
	})
}

func serverOf(t *testing.T, handler http.HandlerFunc) *Server {
	web := httptest.NewServer(handler)
	transport := wire.Connections{NetHTTP: netHTTP}.Transport()
	t.Cleanup(func() { transport.CloseIdleConnections(); web.Close() })
	return &Server{URL: web.URL, Transport: transport}
}

// The replies of llama.cpp's server (xllamacpp 2026.10.11549) to a run with --random-input-len 12 and
// --num-prompts 3. Its tokenizer adds a space before a text, and leaves it there.
func TestLlamaCppsPromptsHaveTheirLength(t *testing.T) {
	var calls atomic.Int32
	words, err := recordedTokenizer(t, "testdata/llamacpp-tokenizer.jsonl", &calls).Tokenizer(t.Context(), "tiny", 32000)
	if err != nil {
		t.Fatal(err)
	}
	before := calls.Load()
	source, n, err := dataset.Random{Options: dataset.Options{Num: 3, Tokenizer: words}, InputLen: 12, OutputLen: 2}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range source {
		turn := c.Turns[0]
		if err != nil || turn.PromptLen != 11 || !strings.HasPrefix(turn.Prompt, "tok") || len(strings.Fields(turn.Prompt)) != 11 {
			t.Errorf("%d tokens, %q, %v; want 11 words", turn.PromptLen, turn.Prompt, err)
		}
	}
	if words.Err() != nil {
		t.Error(words.Err())
	}
	if got := int(calls.Load() - before); got != 2*n {
		t.Errorf("%d calls for %d prompts, want 2 each", got, n)
	}
}

// sentencePiece is a tokenizer of words, each with the space before it, that adds what it likes around a
// text when it makes ids of it, and does not take it away again.
func sentencePiece(t *testing.T, before, after string) *Server {
	ids, words := map[string]int{}, []string{}
	id := func(word string) int {
		if _, known := ids[word]; !known {
			ids[word], words = len(words), append(words, word)
		}
		return ids[word]
	}
	var lock sync.Mutex
	return serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		var asked struct {
			Content *string
			Tokens  []int
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if r.URL.Path == "/detokenize" {
			text := ""
			for _, id := range asked.Tokens {
				text += words[id]
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"content": text})
			return
		}
		tokens := []int{}
		if asked.Content != nil {
			for piece := range strings.SplitSeq(before+*asked.Content+after, " ") {
				tokens = append(tokens, id(" "+piece))
			}
			tokens = tokens[min(1, len(tokens)-1):] // what comes before the first space is no word
		}
		_ = json.NewEncoder(w).Encode(map[string][]int{"tokens": tokens})
	})
}

func TestServersTextsDoNotGrow(t *testing.T) {
	for _, around := range [][2]string{{" ", ""}, {" <s> ", ""}, {" [CLS] ", " [SEP]"}} {
		t.Run(fmt.Sprintf("%q", around), func(t *testing.T) {
			s := sentencePiece(t, around[0], around[1])
			words, err := s.Tokenizer(t.Context(), "m", 100)
			if err != nil {
				t.Fatal(err)
			}
			text := "one two three"
			for range 3 {
				ids := words.Encode(text, false)
				if text = words.Decode(ids); text != "one two three" || words.Err() != nil {
					t.Fatalf("%v became %q, %v", ids, text, words.Err())
				}
			}
		})
	}
}

// vLLM's client cuts a prompt to the text of its first ids; of a text with a space more, llama.cpp would
// make a token more.
func TestAlignedPromptsHaveTheirLength(t *testing.T) {
	s := sentencePiece(t, " ", "")
	turn := &dataset.Turn{Prompt: "one two three", PromptLen: 2}
	if ids, err := s.Tokenize(t.Context(), "m", turn.Prompt, false); len(ids) != 3 || err != nil {
		t.Fatalf("ids %v, %v", ids, err)
	}
	if err := s.Align(t.Context(), "m", []*dataset.Turn{turn}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("one two", turn.Prompt); diff != "" {
		t.Errorf("aligned prompt (-want +got):\n%s", diff)
	}
}
