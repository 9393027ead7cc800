package workload

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/wire"
)

// cacheOf makes a cache of Hugging Face with the file tokenizer.json of org/name, or without it.
func cacheOf(t *testing.T, text string) (snapshot string) {
	t.Helper()
	hub := t.TempDir()
	t.Setenv("HF_HUB_CACHE", hub)
	if text == "" {
		return ""
	}
	snapshot = filepath.Join(hub, "models--org--name", "snapshots", "abc")
	if err := os.MkdirAll(snapshot, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(snapshot, "tokenizer.json"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// words is a tokenizer that is whole; one of another version is not.
const words = `{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
 "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
 "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "?": 2}, "unk_token": "?"}}`

// A run says which tokenizer it took, where that is, and why it took no better one.
func TestTheTokenizerIsNamedWithItsFolder(t *testing.T) {
	const note = "NOTE: these are not the prompts of vllm bench serve: without the model's tokenizer, token ids are drawn below 32000; give Server.Tokenizer or Workload.VocabSize\n"
	tokenizes := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/detokenize") {
			fmt.Fprint(w, `{"prompt": "a b"}`)
			return
		}
		fmt.Fprint(w, `{"tokens": [0, 1], "count": 2}`)
	})
	for _, c := range []struct {
		name, cached, asked string // what was there, and Server.Tokenizer, or the model's folder
		server              http.Handler
		want                string // a pattern; SNAPSHOT is the folder
	}{
		{"the model's", words, "", tokenizes, "tokenizer: org/name, in SNAPSHOT\n"},
		{"the model's, by name", words, "org/name", nil, "tokenizer: org/name, in SNAPSHOT\n"},
		{"made up", words, "stub-100", nil, ""},
		{"the server's, none cached", "", "", tokenizes,
			`tokenizer: the server's, with ids below 32000 \(Workload.VocabSize\); org/name is not in the Hugging Face cache` + "\n" + note},
		{"the server's, one not read", "{}", "", tokenizes,
			`NOTE: the model's own tokenizer cannot be read: SNAPSHOT/tokenizer.json: .*` + "\n" + `tokenizer: the server's, with ids below 32000 \(Workload.VocabSize\)` + "\n" + note},
		{"the server's, by name", words, "server", tokenizes, `tokenizer: the server's, with ids below 32000 \(Workload.VocabSize\)` + "\n" + note},
		{"token ids, none cached", "", "", http.NotFoundHandler(),
			`tokenizer: none \(org/name is not in the Hugging Face cache; .*404.*\), prompts are sent as token ids below 32000 \(Workload.VocabSize\)` + "\n" + note},
		{"token ids, the server's folder", words, "/models/name", http.NotFoundHandler(),
			`tokenizer: none \(there is no /models/name on this machine; .*404.*\), prompts are sent as token ids below 32000 \(Workload.VocabSize\)` + "\n" + note},
		{"token ids, one not read", "{}", "", http.NotFoundHandler(),
			`NOTE: the model's own tokenizer cannot be read: SNAPSHOT/tokenizer.json: .*` + "\n" +
				`tokenizer: none \(.*404.*\), prompts are sent as token ids below 32000 \(Workload.VocabSize\)` + "\n" + note},
	} {
		t.Run(c.name, func(t *testing.T) {
			snapshot := cacheOf(t, c.cached)
			said := ""
			from := Origin{Model: "org/name", Served: "org/name", Say: func(format string, args ...any) {
				said += fmt.Sprintf(format, args...) + "\n"
			}}
			if c.server != nil {
				s := httptest.NewServer(c.server)
				defer s.Close()
				from.Server = &openai.Server{URL: s.URL, Transport: wire.Connections{}.Transport()}
			}
			p := &Spec{
				Server:   settings.Server{Backend: "openai", Model: "stub-32000"},
				Workload: settings.Workload{Dataset: "random", NumPrompts: 1000, VocabSize: 32000},
			}
			if p.Server.Tokenizer, p.Workload.VocabGiven = c.asked, false; filepath.IsAbs(c.asked) {
				p.Server.Tokenizer, from.Model = "", c.asked
			}
			if err := new(Opened).openTokenizer(t.Context(), p, from); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(c.want, "SNAPSHOT/", regexp.QuoteMeta(snapshot+string(filepath.Separator)))
			if want = strings.ReplaceAll(want, "SNAPSHOT", regexp.QuoteMeta(snapshot)); !regexp.MustCompile("^" + want + "$").MatchString(said) {
				t.Errorf("%s\nwant\n%s", said, want)
			}
		})
	}
}
