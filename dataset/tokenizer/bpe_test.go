package tokenizer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// naive does the merge of the lowest rank, the leftmost first, until none is
// left.
func naive(table *merges, ids []int32) []int32 {
	for {
		best, at := never, -1
		for i := 1; i < len(ids); i++ {
			if m := table.of(ids[i-1], ids[i]); m.rank < best.rank {
				best, at = m, i
			}
		}
		if at < 0 {
			return ids
		}
		ids[at-1] = best.id
		ids = slices.Delete(ids, at, at+1)
	}
}

func symbolsOf(b *bpe, text string) []int32 {
	if b.byteLevel {
		return b.byteSymbols(nil, text)
	}
	return b.symbols(nil, text)
}

func TestLongWordsMergeAsShortOnesDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := "der▁Server▁antwortet▁schnell,▁▁▁when▁the▁queue▁is▁empty.сервер服务器▁🇩🇪enenenenen"
	chars := []rune(text)
	for _, v := range readVariants(t) {
		model, ok := v.tokenizer(t).model.(*bpe)
		if !ok || model.byteLevel || model.joints() == nil {
			continue
		}
		for range 20 {
			var long strings.Builder
			for long.Len() < 1000 {
				start := rng.IntN(len(chars))
				long.WriteString(string(chars[start:min(len(chars), start+1+rng.IntN(20))]))
			}
			want := naive(model.merges, model.symbols(nil, long.String()))
			if got := model.tokens(new(word), long.String()); !slices.Equal(got, want) {
				t.Fatalf("%s: in parts, %q becomes %v, want %v", v.Name, long.String(), got, want)
			}
			if got := new(word).mergeQueued(model.merges, model.symbols(nil, long.String())); !slices.Equal(got, want) {
				t.Fatalf("%s: in a queue, %q becomes %v, want %v", v.Name, long.String(), got, want)
			}
		}
	}
}

// One memory makes all words, as in a text, so that it has met many of them before.
func TestRepeatedWordsKeepTheirTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	chars := []rune("the server answers,12 eenenanter🇩🇪服务器 сервер\x00éé")
	for _, v := range readVariants(t) {
		model, ok := v.tokenizer(t).model.(*bpe)
		if !ok {
			continue
		}
		memory := new(word)
		for range 20_000 {
			start := rng.IntN(len(chars))
			text := string(chars[start:min(len(chars), start+1+rng.IntN(6))])
			if rng.IntN(8) == 0 {
				text = strings.Repeat(text, 1+rng.IntN(30))
			}
			want := naive(model.merges, symbolsOf(model, text))
			if id, ok := model.word(new(word), text); ok && model.whole {
				want = []int32{id}
			}
			if got := model.tokens(memory, text); !slices.Equal(got, want) {
				t.Fatalf("%s: %q becomes %v, want %v", v.Name, text, got, want)
			}
		}
	}
}

// The ids are those of Hugging Face's library.
func TestMergesOfUnknownsAndBytesReachAcrossParts(t *testing.T) {
	for _, row := range []struct {
		model, text string
		want        int
	}{
		{`"vocab":{"<unk>":0,"a":1,"<unk>a":2},"merges":["<unk> a"],"unk_token":"<unk>"`, "xa", 2},
		{`"vocab":{"<0x41>":0,"b":1,"<0x41>b":2},"merges":["<0x41> b"],"byte_fallback":true`, "Ab", 2},
	} {
		tok := mustParse(t, `{"model":{"type":"BPE",`+row.model+`}}`)
		if got := tok.Encode(strings.Repeat(row.text, 100), false); !slices.Equal(got, slices.Repeat([]int{row.want}, 100)) {
			t.Errorf("100 times %q becomes %v", row.text, got)
		}
	}
}

func TestMergesNeedTheirParts(t *testing.T) {
	for _, row := range []struct{ model, want string }{
		{`"vocab":{"a":0},"merges":["a a"]`, `merge 0, of "a" and "a": a part or the whole is not in the vocabulary`},
		{`"vocab":{"a":0},"merges":["a a a"]`, `merge 0, "a a a", is not two symbols`},
		{`"vocab":{"a":0},"merges":[],"unk_token":"u"`, `unk_token "u" is not in the vocabulary`},
		{`"vocab":{"a":0,"b":0},"merges":[]`, `tokens "a" and "b" have the same id, 0`},
		{`"vocab":{"a":9999999},"merges":[]`, `token "a" has the id 9999999, which is not between 0 and 4194303`},
		{`"vocab":{},"merges":[],"dropout":0.1`, `dropout 0.1 is not supported: it makes other tokens of the same text each time`},
		{`"vocab":{},"merges":[],"end_of_word_suffix":"</w>","byte_fallback":true`, `byte_fallback with an end_of_word_suffix is not supported yet`},
		{`"vocab":{},"merges":[],"continuing_subword_prefix":"##"`, `continuing_subword_prefix "##" is not supported yet`},
		{`"vocab":{},"merges":7`, `merges: json: cannot unmarshal number into Go value of type []string`},
	} {
		_, err := parse("t.json", []byte(`{"model":{"type":"BPE",`+row.model+`}}`), nil)
		if want := "t.json: model: " + row.want; err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", row.model, err, want)
		}
	}
}

func TestInvalidTextIsReplacedByMaximalParts(t *testing.T) {
	for text, want := range map[string]string{
		"a\xffb": "a\ufffdb", "\xf0\x9f\x98x": "\ufffdx", "\xe4\xb8": "\ufffd", "\xe4\xb8\xf0\x9f": "\ufffd\ufffd",
		"\xed\xa0\x80": "\ufffd\ufffd\ufffd", "\xc0\x80": "\ufffd\ufffd", "\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd", "é\ufffd": "é\ufffd",
	} {
		if got := valid(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzByteLevelRoundTrip(f *testing.F) {
	f.Add("It's 12345 中文\u0301 \xff\n\n")
	var toks []*pipeline
	for _, v := range readVariants(f) {
		switch v.Name {
		case "gpt2", "llama3", "tekken", "o200k", "deepseek":
			toks = append(toks, mustParse(f, string(merged(f, v.document(f), []byte(`{"added_tokens":[]}`)))))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			ids := tok.Encode(text, false)
			if got := tok.Decode(ids); got != valid(text) {
				t.Errorf("%q became %q", text, got)
			}
			if n := tok.Count(text, false); n != len(ids) {
				t.Errorf("%q: Count = %d, Encode gives %d", text, n, len(ids))
			}
		}
	})
}

// large is a byte-level tokenizer with the pattern and the size of Llama 3's,
// and words that it knows.
func large(b *testing.B, ignoreMerges bool) (*pipeline, []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	vocab := make(map[string]int)
	for i, r := range unprinted {
		if r >= 0 {
			vocab[string(rune(i))] = len(vocab)
		}
	}
	var words, merges []string
	for len(vocab) < 128_000 {
		word := "Ġ"
		for range 2 + rng.IntN(8) {
			next := string(rune('a' + rng.IntN(5)*rng.IntN(6)))
			if _, known := vocab[word+next]; !known {
				merges = append(merges, word+" "+next)
				vocab[word+next] = len(vocab)
			}
			word += next
		}
		words = append(words, strings.Replace(word, "Ġ", " ", 1))
	}
	model, err := json.Marshal(map[string]any{"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": ignoreMerges})
	if err != nil {
		b.Fatal(err)
	}
	return mustParse(b, fmt.Sprintf(`{"model":%s,"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},"pre_tokenizer":{"type":"Sequence","pretokenizers":[
{"type":"Split","pattern":{"Regex":%s},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]}}`,
		model, strconv.Quote(llama3))), words
}

func BenchmarkEncode(b *testing.B) {
	for _, ignoreMerges := range []bool{true, false} {
		tok, words := large(b, ignoreMerges)
		var text strings.Builder
		for i := range 100_000 {
			text.WriteString(words[i*7919%len(words)])
			if i%12 == 0 {
				text.WriteString(", 2025.\n")
			}
		}
		b.Run(fmt.Sprintf("ignore_merges=%t", ignoreMerges), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			n := 0
			for b.Loop() {
				n += len(tok.Encode(text.String(), false))
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// Random prompts are successive ids as text, encoded until they are short enough.
func BenchmarkRandomPrompt(b *testing.B) {
	const length = 16
	tok := mustParse(b, string(tokenizertest.Llama()))
	at := 0
	for b.Loop() {
		ids := make([]int, length)
		for i := range ids {
			ids[i] = (at + i) % tok.size
		}
		at += 7919
		for range 10 {
			ids = tok.Encode(tok.Decode(ids), false)
			if len(ids) <= length {
				break
			}
			ids = ids[:length]
		}
	}
}
