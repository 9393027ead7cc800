package tokenizer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// sameAsAll holds parse against parseAll: the same error, or tokenizers that do the same.
func sameAsAll(t *testing.T, data []byte, texts ...string) {
	t.Helper()
	got, err := parse("t.json", data, nil)
	want, wantErr := parseAll("t.json", data, nil)
	if err != nil || wantErr != nil {
		if err == nil || wantErr == nil || err.Error() != wantErr.Error() {
			t.Fatalf("%s\nthe error is %v, want %v", data, err, wantErr)
		}
		return
	}
	if got.size != want.size || !slices.Equal(got.texts, want.texts) || !slices.Equal(got.special, want.special) {
		t.Fatalf("%s\nthe vocabulary is %d %q, want %d %q", data, got.size, got.texts, want.size, want.texts)
	}
	for i := 0; i < len(want.texts); i += 1 + len(want.texts)/2000 {
		texts = append(texts, want.texts[i])
	}
	for _, text := range texts {
		if ids := want.Encode(text, true); !slices.Equal(got.Encode(text, true), ids) || got.Decode(ids) != want.Decode(ids) {
			t.Fatalf("%s\n%q becomes %v %q, want %v %q", data, text, got.Encode(text, true), got.Decode(ids), ids, want.Decode(ids))
		}
	}
	if a, ok := got.model.(*unigram); ok && !slices.Equal(a.scores, want.model.(*unigram).scores) {
		t.Fatalf("%s\nthe scores differ", data)
	}
	a, okA := got.model.(*bpe)
	b, okB := want.model.(*bpe)
	if okA != okB || okA && !slices.Equal(a.merges.slots, b.merges.slots) {
		t.Fatalf("%s\nthe merges differ", data)
	}
}

func TestCutReadsTheUsualForm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	files, err := filepath.Glob("../../testdata/golden/tok-*/tokenizer.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	documents := [][]byte{tokenizertest.Llama(), tokenizertest.BERT(), tokenizertest.XLMR()}
	for _, file := range append(files, "testdata/bytes.json", "testdata/pieces.json", "testdata/words.json", "testdata/scores.json") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, data)
	}
	for _, v := range readVariants(t) {
		documents = append(documents, v.document(t))
	}
	cuts := 0
	for _, data := range documents {
		if _, _, ok := cut(data); ok {
			cuts++
		}
		sameAsAll(t, data, "in long runs: "+strings.Repeat("the server answers, ", 9), strings.Repeat("▁▁enen", 99))
	}
	if cuts < len(documents)/2 {
		t.Errorf("of %d documents, %d are of the usual form", len(documents), cuts)
	}
}

// Each row is unusual in one way: the tokenizer, or the error, is the same as encoding/json gives.
func TestCutLeavesWhatIsUnusual(t *testing.T) {
	const usual = `{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`
	if _, _, ok := cut([]byte(usual)); !ok {
		t.Fatal("the usual form is not read")
	}
	for _, row := range []struct{ old, with string }{
		{`"a":0`, `"a":00`}, {`"a":0`, `"a":-1`}, {`"a":0`, `"a":0.0`}, {`"a":0`, `"a":0e0`}, {`"a":0`, `"a":""`}, {`"a":0`, `"a":null`},
		{`"a":0`, `"a":99999999999999999999`}, {`"a":0`, `"a":4194304`}, {`"a":0`, `"a":1`}, {`"a":0`, `"a":7,"a":0`}, {`"a":0`, `"a":0,"a":0`},
		{`"a":0`, `"":3,"a":0`}, {`"a":0`, `"":0,"a":0`}, {`"a":0`, `"\u0061":0`}, {`"a":0`, "\"\xff\":3,\"a\":0"}, {`"a":0`, `"\ud800":3,"a":0`},
		{`"a":0`, "\"\xc4\":3,\"\xa0\":4,\"a\":0"}, {`"a":0`, "\"a\tb\":3,\"a\":0"}, {`"a":0`, `"a\tb":3,"a":0`}, {`"a":0`, `"a":0,`},
		{`"merges"`, `"Merges"`}, {`"merges"`, `"merges":["b a"],"merges"`}, {`"merges"`, `"Vocab":{"c":3},"merges"`}, {`"merges"`, `"x":1,"merges"`},
		{`{"model"`, `{"MODEL":7,"model"`}, {`{"model"`, `{"model":{"type":"BPE"},"model"`}, {`}}`, `},"model":{"type":"BPE","vocab":{},"merges":[]}}`},
		{`}}`, `},"model":{"type":"BPE"}}`}, {`}}`, `}}x`}, {`}}`, `} }` + "\n"}, {`}}`, `}`}, {`}}`, `},"normalizer":nul}`}, {`}}`, `},"version":"1.0"}`},
		{`["a b"]`, `[["a","b"]]`}, {`["a b"]`, `[["a","b","c"]]`}, {`["a b"]`, `[["a"]]`}, {`["a b"]`, `["a b",["a","b"]]`}, {`["a b"]`, `[["a","b"],"a b"]`},
		{`["a b"]`, `null`}, {`["a b"]`, `[null]`}, {`["a b"]`, `[]`}, {`["a b"]`, `["a b",]`}, {`["a b"]`, `["a  b"]`}, {`["a b"]`, `["ab"]`}, {`["a b"]`, `["b a"]`},
		{`["a b"]`, `["a b","a b"]`}, {`["a b"]`, `["a\u0020b"]`}, {`["a b"]`, "[\"a b\"\t, \"a b\"\n]"}, {`["a b"]`, `[" ab"]`}, {`["a b"]`, `["a b" "a b"]`},
		{`["a b"]`, `[{"a":"b"}]`}, {`["a b"]`, `{}`}, {`["a b"]`, `[7]`}, {`["a b"]`, "[\"a b\x00\"]"},
		{`"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]`, `"merges":["a b"],"vocab":{"a":0,"b":1,"ab":2}`},
		{`,"merges":["a b"]`, ``}, {`"BPE"`, `"WordLevel","unk_token":"a"`}, {`"BPE"`, `"WordLevel","unk_token":"c"`},
		{`"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]`, `"WordLevel","unk_token":"a","vocab":{"a":0,"b":1}`},
		{`"BPE"`, `"WordLevel"`}, {`"BPE"`, `"Unigram"`}, {`"BPE"`, `"WordPiece","unk_token":"a","continuing_subword_prefix":"","max_input_chars_per_word":9`},
	} {
		data := strings.Replace(usual, row.old, row.with, 1)
		if data == usual {
			t.Fatalf("%s does nothing", row.with)
		}
		sameAsAll(t, []byte(data), "ab", "abab ba", "\ufffd")
	}
	const scored = `{"model":{"type":"Unigram","unk_id":0,"vocab":[["a",-1.5],["b",-2],["ab",-2.5]]}}`
	if _, _, ok := cut([]byte(scored)); !ok {
		t.Fatal("the usual form of scores is not read")
	}
	for _, row := range []struct{ old, with string }{
		{`-2.5`, `-02.5`}, {`-2.5`, `-2.`}, {`-2.5`, `-.5`}, {`-2.5`, `+2.5`}, {`-2.5`, `2.5e1`}, {`-2.5`, `25E-1`}, {`-2.5`, `2.5e`}, {`-2.5`, `1e400`},
		{`-2.5`, `null`}, {`-2.5`, `"1"`}, {`-2.5`, `[1]`}, {`-2.5`, ``}, {`-2.5`, ` -2.5 `}, {`-2.5`, `-12.864072317121257`}, {`,-2.5`, ``}, {`,-2.5`, `,-2.5,1`},
		{`"ab",`, `"a",`}, {`"ab",`, `"",`}, {`"ab",`, `"\u0061b",`}, {`"ab",`, "\"\xff\","}, {`"ab",`, "\"\xc4\",1],[\"\xa0\","}, {`"ab",`, `null,`}, {`"ab",`, `7,`},
		{`["ab",-2.5]`, `{"ab":-2.5}`}, {`["ab",-2.5]`, `null`}, {`["ab",-2.5]`, `"ab"`}, {`,["ab",-2.5]`, `,`}, {`,["ab",-2.5]`, ` `},
		{`[["a",-1.5],["b",-2],["ab",-2.5]]`, `[]`}, {`[["a",-1.5],["b",-2],["ab",-2.5]]`, `{}`}, {`[["a",-1.5],["b",-2],["ab",-2.5]]`, `{"a":0}`},
		{`"Unigram","unk_id":0`, `"BPE","merges":[]`}, {`"Unigram","unk_id":0`, `"WordLevel","unk_token":"a"`}, {`"unk_id":0`, `"unk_id":9`}, {`"type":"Unigram",`, ``},
	} {
		data := strings.Replace(scored, row.old, row.with, 1)
		if data == scored {
			t.Fatalf("%s does nothing", row.with)
		}
		sameAsAll(t, []byte(data), "ab", "abab ba", "\ufffd")
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`))
	f.Add([]byte(`{"added_tokens":[{"id":7,"content":"x"}],"model":{"type":"BPE","merges":[["a","b"]],"vocab":{"\u0061":0,"b":1,"ab":2},"byte_fallback":true}}`))
	for _, v := range readVariants(f) {
		f.Add(v.document(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameAsAll(t, data, "ab a b", string(data)) })
}

func BenchmarkOpen(b *testing.B) {
	for name, data := range map[string][]byte{"bpe": tokenizertest.Llama(), "unigram": tokenizertest.XLMR(), "wordpiece": tokenizertest.BERT()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parse("t.json", data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
