package tokenizer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// wordLevelJSON is a tokenizer.json whose words are tok0 … tok99, with one BOS
// and one EOS token.
func wordLevelJSON() string {
	var vocab strings.Builder
	for i := range 100 {
		vocab.WriteString(`"tok` + strconv.Itoa(i) + `":` + strconv.Itoa(i) + `,`)
	}
	return `{"version":"1.0","truncation":null,"padding":null,"added_tokens":[
{"id":101,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
{"id":102,"content":"</s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},
{"id":103,"content":"</s>!","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}],
"normalizer":null,"pre_tokenizer":{"type":"WhitespaceSplit"},
"post_processor":{"type":"TemplateProcessing",
"single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],
"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[101],"tokens":["<s>"]},"</s>":{"id":"</s>","ids":[102],"tokens":["</s>"]}}},
"decoder":null,"model":{"type":"WordLevel","vocab":{` + vocab.String() + `"[UNK]":100},"unk_token":"[UNK]"}}`
}

func mustParse(t testing.TB, text string) *pipeline {
	t.Helper()
	tok, err := parse("tokenizer.json", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestWordLevelEncodesWordsAndAddedTokens(t *testing.T) {
	tok := mustParse(t, wordLevelJSON())
	for _, row := range []struct {
		text string
		want []int
	}{
		{"", nil},
		{" \t\n", nil},
		{"tok1 tok99", []int{1, 99}},
		{"tok1  tok2\u00a0tok3\u2028tok4", []int{1, 2, 3, 4}},
		{"tok1 never tok2", []int{1, 100, 2}},
		{"tok1<s>tok2", []int{1, 101, 2}},
		{"</s></s>!</s", []int{102, 103, 100}},
		{"tok1 \xff", []int{1, 100}},
	} {
		if got := tok.Encode(row.text, false); !slices.Equal(got, row.want) {
			t.Errorf("Encode(%q, false) = %v, want %v", row.text, got, row.want)
		}
		want := append(append([]int{101}, row.want...), 102)
		if got := tok.Encode(row.text, true); !slices.Equal(got, want) {
			t.Errorf("Encode(%q, true) = %v, want %v", row.text, got, want)
		}
		if got := tok.Count(row.text, true); got != len(want) {
			t.Errorf("Count(%q, true) = %d, want %d", row.text, got, len(want))
		}
	}
}

func TestWordLevelDecodeJoinsWordsWithSpaces(t *testing.T) {
	tok := mustParse(t, wordLevelJSON())
	if got, want := tok.Decode([]int{101, 7, 4000, 8, 102}), "<s> tok7 tok8 </s>"; got != want {
		t.Errorf("Decode = %q, want %q", got, want)
	}
	if tok.VocabSize() != 101 || tok.NumSpecial() != 2 || !slices.Equal(tok.SpecialIDs(), []int{101, 102}) {
		t.Errorf("vocabulary %d, special %d %v; want 101, 2 [101 102]", tok.VocabSize(), tok.NumSpecial(), tok.SpecialIDs())
	}
}

// Hugging Face's library gives these ids, too.
func TestAddedTokensFollowTheVocabulary(t *testing.T) {
	tok := mustParse(t, `{"model":{"type":"BPE","vocab":{"a":0,"b":1,"<in>":2},"merges":[]},"added_tokens":[
{"id":9,"content":"<gap>","special":true},{"id":0,"content":"<taken>"},{"id":7,"content":"<in>"},{"id":8,"content":""},{"id":8,"content":"<gap>"},{"id":3,"content":"<last>"}]}`)
	if got, want := tok.Encode("<gap>a<taken><in>b<last>", false), []int{3, 0, 4, 2, 1, 5}; !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
	if got := tok.SpecialIDs(); !slices.Equal(got, []int{3}) {
		t.Errorf("special ids %v, want [3]", got)
	}
}

func TestTokenizersMayBeUsedConcurrently(t *testing.T) {
	for _, v := range readVariants(t) {
		tok := v.tokenizer(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for _, row := range v.Texts {
					if got := tok.Encode(row.Text, false); !slices.Equal(got, row.IDs) {
						t.Errorf("%s: %q becomes %v, want %v", v.Name, row.Text, got, row.IDs)
					}
				}
			})
		}
		all.Wait()
	}
}

func TestStubIsTheWordLevelTokenizerOfItsWords(t *testing.T) {
	tok, stub := mustParse(t, wordLevelJSON()), Stub{Size: 100}
	text := "tok0 tok5\ttok42  tok99"
	ids := stub.Encode(text, false)
	if want := tok.Encode(text, false); !slices.Equal(ids, want) {
		t.Errorf("Encode(%q) = %v, want %v", text, ids, want)
	}
	if got, want := stub.Decode(ids), tok.Decode(ids); got != want {
		t.Errorf("Decode(%v) = %q, want %q", ids, got, want)
	}
}

func TestStubGivesOtherWordsIDZero(t *testing.T) {
	stub := Stub{Size: 100, BOS: []int{1}}
	for _, word := range []string{"tok", "tok007", "tok00", "tok100", "tok-1", "tok99999999999999999999", "hello", "tok5x"} {
		if got := stub.Encode(word, false); !slices.Equal(got, []int{0}) {
			t.Errorf("Encode(%q) = %v, want [0]", word, got)
		}
	}
	if got := stub.Encode("tok0 tok99", true); !slices.Equal(got, []int{1, 0, 99}) {
		t.Errorf("with special tokens: %v, want [1 0 99]", got)
	}
	if got := stub.Count("tok0 tok99", true); got != 3 {
		t.Errorf("Count = %d, want 3", got)
	}
	if got := stub.Decode([]int{3, -1, 100, 4}); got != "tok3 tok4" {
		t.Errorf("Decode = %q, want the ids outside the vocabulary left out", got)
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("tok1 tok22 <s> other ", 1000)
	for name, tok := range map[string]Tokenizer{"stub": Stub{Size: 100}, "word level": mustParse(t, wordLevelJSON())} {
		if n := testing.AllocsPerRun(5, func() { tok.Count(text, true) }); n > 4 {
			t.Errorf("%s: %v allocations for a text of 4000 words", name, n)
		}
	}
}

func TestOpenFindsBuiltInFileAndFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tokenizer.json")
	if err := os.WriteFile(file, []byte(wordLevelJSON()), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"stub-32000": 32000, file: 101, dir: 101} {
		tok, err := Open(name)
		if err != nil {
			t.Error(err)
		} else if tok.VocabSize() != size {
			t.Errorf("%s: vocabulary of %d, want %d", name, tok.VocabSize(), size)
		}
	}
}

// Servers name a model by the path of its weights, which --model then is.
func TestOpenRefusesWhatIsNoTokenizer(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{
		"GGUF\x03\x00\x00": `it begins with "GGUF"`,
		"x\n":              `it begins with "x\n"`,
		"":                 "unexpected end of JSON input",
		"{":                "unexpected end of JSON input",
		"{}":               "model: it is missing",
	} {
		file := filepath.Join(dir, "model.gguf")
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		tok, err := Open(file)
		if tok != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %#v, %v; want no tokenizer and %s", content, tok, err, want)
		}
	}
}

func TestUnsupportedPartsAreRefusedByName(t *testing.T) {
	good := wordLevelJSON()
	for _, row := range []struct{ old, new, want string }{
		{`"type":"WordLevel"`, `"type":"Unigram"`, `tokenizer.json: model: vocab: unexpected JSON object`},
		{`"model":{`, `"model":null,"extra":{`, `tokenizer.json: json: unknown field "extra"`},
		{`"model":{"type":"WordLevel"`, `"model":{"type":"Foo"`, `tokenizer.json: model: type "Foo" is not supported yet`},
		{`"normalizer":null`, `"normalizer":{"type":"ByteLevel"}`, `tokenizer.json: normalizer: type "ByteLevel" is not supported yet`},
		{`"normalizer":null`, `"normalizer":{"clean_text":true}`, `tokenizer.json: normalizer: it has no type`},
		{`"normalizer":null`, `"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"ByteLevel"}]}`, `tokenizer.json: normalizer.normalizers[1]: type "ByteLevel" is not supported yet`},
		{`"normalizer":null`, `"normalizer":{"type":"Sequence","normalizers":[{"type":"Sequence","normalizers":[{"type":"NFC","form":1}]}]}`,
			`tokenizer.json: normalizer.normalizers[0].normalizers[0]: json: unknown field "form"`},
		{`"normalizer":null`, `"normalizer":{"type":"Sequence"}`, `tokenizer.json: normalizer: it is no list of normalizers`},
		{`"normalizer":null`, `"normalizer":{"type":"Replace","pattern":{"Regex":"(a)\\1"},"content":""}`,
			`tokenizer.json: normalizer: pattern "(a)\\1" is not supported yet: "(" here`},
		{`"normalizer":null`, `"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}`,
			`tokenizer.json: normalizer: precompiled_charsmap is not the size of a trie, the trie, and texts`},
		{`"normalizer":null`, `"normalizer":{"type":"Precompiled","precompiled_charsmap":"?"}`,
			`tokenizer.json: normalizer: precompiled_charsmap: illegal base64 data at input byte 0`},
		{`"decoder":null`, `"decoder":{"type":"CTC"}`, `tokenizer.json: decoder: type "CTC" is not supported yet`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"FixedLength"}`, `tokenizer.json: pre_tokenizer: type "FixedLength" is not supported yet`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"Punctuation","behavior":"Lost"}`, `tokenizer.json: pre_tokenizer: behavior "Lost" is not supported yet`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"CharDelimiterSplit","delimiter":"ab"}`, `tokenizer.json: pre_tokenizer: delimiter "ab" is not one character`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"Sequence","pretokenizers":[{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true},{"type":"Digits","individual_digits":true}]}`,
			`tokenizer.json: pre_tokenizer.pretokenizers[1]: a Digits after ByteLevel is not supported yet`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"Metaspace","replacement":"_","add_prefix_space":false}`,
			`tokenizer.json: pre_tokenizer: add_prefix_space false needs the prepend_scheme never, as in Hugging Face's library`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"Metaspace","replacement":"_","prepend_scheme":"last"}`, `tokenizer.json: pre_tokenizer: prepend_scheme "last" is not supported yet`},
		{`{"type":"WhitespaceSplit"}`, `{"type":"Metaspace"}`, `tokenizer.json: pre_tokenizer: it has no replacement`},
		{`"TemplateProcessing"`, `"PairProcessing"`, `tokenizer.json: post_processor: type "PairProcessing" is not supported yet`},
		{`"post_processor":{`, `"post_processor":{"type":"BertProcessing"},"decoder":{`, `tokenizer.json: post_processor: it has no sep`},
		{`"ids":[101]`, `"ids":[-1]`, `tokenizer.json: post_processor: special_tokens.ids: unexpected JSON number -1`},
		{`"content":"<s>"`, `"content":7`, `tokenizer.json: added_tokens.content: unexpected JSON number`},
		{`"unk_token":"[UNK]"`, `"unk_token":"?"`, `tokenizer.json: model: unk_token "?" is not in the vocabulary`},
		{`"unk_token"`, `"dropout":1,"unk_token"`, `tokenizer.json: model: json: unknown field "dropout"`},
		{`"tok1":1,`, `"tok1":-1,`, `tokenizer.json: model: token "tok1" has the id -1, which is not between 0 and 4194303`},
		{`{"Sequence":{"id":"A"`, `{"Sequence":{"id":"B"`, `tokenizer.json: post_processor: single[1] is neither a special token nor sequence A`},
		{`"pre_tokenizer":`, `"pre_tokenizer"`, `tokenizer.json:5: invalid character '{' after object key`},
	} {
		_, err := parse("tokenizer.json", []byte(strings.Replace(good, row.old, row.new, 1)), nil)
		if err == nil || err.Error() != row.want {
			t.Errorf("with %s for %s:\n got %v\nwant %s", row.new, row.old, err, row.want)
		}
	}
}

// The tokenizers that people save have these: transformers turns both off.
func TestTruncationAndPaddingHaveNoEffect(t *testing.T) {
	good := wordLevelJSON()
	text := strings.Repeat("tok7 ", 40)
	want := mustParse(t, good).Encode(text, true)
	for _, row := range []struct{ old, new string }{
		{`"truncation":null`, `"truncation":{"direction":"Right","max_length":8,"strategy":"LongestFirst","stride":0}`},
		{`"padding":null`, `"padding":{"strategy":{"Fixed":128},"direction":"Right","pad_to_multiple_of":null,"pad_id":0,"pad_type_id":0,"pad_token":"[PAD]"}`},
	} {
		if got := mustParse(t, strings.Replace(good, row.old, row.new, 1)).Encode(text, true); !slices.Equal(got, want) {
			t.Errorf("with %s: %d tokens, want %d", row.new, len(got), len(want))
		}
	}
}

// The ids are those of Hugging Face's library.
func TestOddDocumentsAreReadAsTheLibraryDoes(t *testing.T) {
	const level = `"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}`
	const strip = `"normalizer":{"type":"Strip","strip_left":true,"strip_right":true}`
	const first = `{"type":"Metaspace","replacement":"|","prepend_scheme":"first","split":true}`
	words := func(vocab string) string {
		return `"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,` + vocab + `}}`
	}
	for _, row := range []struct {
		document, text string
		want           []int
	}{
		{level + `,` + words(`"hi":1,"Ġthere":2," there":3`), "hi there", []int{1, 2}},
		{level + `,"model":{"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##","max_input_chars_per_word":9,"vocab":{"?":0,"Ġhi":1," hi":2}}`, " hi", []int{1}},
		{level + `,"model":{"type":"Unigram","unk_id":0,"vocab":[["?",-9],["Ġhi",-1],[" hi",-1]]}`, " hi", []int{1}},
		{strip + `,"pre_tokenizer":` + first + `,` + words(`"hi":1,"|hi":2`), " hi", []int{1}},
		{strip + `,"pre_tokenizer":` + first + `,` + words(`"hi":1,"|hi":2`), "hi ", []int{2}},
		{`"normalizer":{"type":"StripAccents"},"pre_tokenizer":` + first + `,` + words(`"b":1,"|b":2`), "\u0301b", []int{1}},
		{`"normalizer":{"type":"Replace","pattern":{"String":"\n"},"content":""},"pre_tokenizer":` + first + `,` + words(`"b":1,"|b":2`), "\nb", []int{1}},
		{`"normalizer":{"type":"Replace","pattern":{"Regex":"ab"},"content":""},"pre_tokenizer":` + first + `,` + words(`"b":1,"|b":2`), "abb", []int{1}},
		{`"normalizer":{"type":"Replace","pattern":{"Regex":"a+"},"content":"b"},"pre_tokenizer":` + first + `,` + words(`"b":1,"|b":2`), "aa", []int{1}},
		{`"normalizer":{"type":"Replace","pattern":{"Regex":"a+"},"content":"b"},"pre_tokenizer":` + first + `,` + words(`"b":1,"|b":2`), "a", []int{2}},
		{`"normalizer":{"type":"Prepend","prepend":"▁"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[
{"type":"Split","pattern":{"String":"▁"},"behavior":"Isolated","invert":false},` + first + `]},` + words(`"hi":1,"|hi":2,"▁":3,"|▁":4`), "hi", []int{4, 2}},
		{`"added_tokens":[{"content":"<x>"},{"content":"<x>","lstrip":true}],"pre_tokenizer":{"type":"CharDelimiterSplit","delimiter":"_"},` + words(`"b":1,"<x>":2,"b ":3`), "b <x>", []int{1, 2}},
		{`"added_tokens":[{"content":"b"},{"content":"<x>"}],` + words(`"b":9`), "<x>", []int{2}},
		{`"added_tokens":[{"content":"b","rstrip":true},{"content":"\n","lstrip":true}],` + words(`"b":1,"\n":2`), "b\n", []int{1}},
		{`"added_tokens":[{"content":"b","rstrip":true},{"content":"\n"}],` + words(`"b":1,"\n":2`), "b\n", []int{1, 2}},
	} {
		tok := mustParse(t, `{`+row.document+`}`)
		if got := tok.Encode(row.text, false); !slices.Equal(got, row.want) {
			t.Errorf("%s\n%q becomes %v, want %v", row.document, row.text, got, row.want)
		}
	}
	for _, model := range []string{words(`"▁a":3,"":11,"x":35`), `"model":{"type":"Unigram","unk_id":0,"vocab":[["?",-9],` + strings.Repeat(`["a",-1],`, 10) + `["",-1],` +
		strings.Repeat(`["b",-1],`, 23) + `["x",-1]]}`} {
		if got := mustParse(t, `{`+model+`}`).Decode([]int{35, 11, 77}); got != "x " {
			t.Errorf("an empty token is %q", got)
		}
	}
	for document, want := range map[string]string{
		strip + `,"added_tokens":[{"content":" ","normalized":true}],` + words(`"a":1`): `added_tokens: nothing is left of " " once it is normalized, which is not supported`,
		`"normalizer":{"type":"Prepend","prepend":""},` + words(`"a":1`):                `normalizer: prepend is empty, which is not supported`,
		`"post_processor":{"type":"Sequence","processors":[{"type":"BertProcessing","sep":["x",1],"cls":["y",2]},{"type":"BertProcessing","sep":["x",1],"cls":["y",2]}]},` +
			words(`"a":1`): `post_processor: two that add tokens are not supported`,
	} {
		if _, err := parse("t.json", []byte(`{`+document+`}`), nil); err == nil || err.Error() != "t.json: "+want {
			t.Errorf("%s: %v, want %s", document, err, want)
		}
	}
}

// The first files have no type of the model.
func TestAModelWithoutATypeHasOne(t *testing.T) {
	for model, want := range map[string]any{
		`{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"],"dropout":null}`:                                                  new(bpe),
		`{"vocab":{"a":0,"[UNK]":1},"unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100}`: new(wordPiece),
		`{"vocab":{"a":0,"[UNK]":1},"unk_token":"[UNK]"}`:                                                                 new(wordLevel),
		`{"vocab":[["a",-1.5],["<unk>",-2]],"unk_id":1}`:                                                                  new(unigram),
	} {
		tok := mustParse(t, `{"model":`+model+`}`)
		if got := fmt.Sprintf("%T", tok.model); got != fmt.Sprintf("%T", want) {
			t.Errorf("%s is a %s, want a %T", model, got, want)
		}
		if got := tok.Encode("a", false); !slices.Equal(got, []int{0}) {
			t.Errorf("%s: a becomes %v", model, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(wordLevelJSON()), "tok1 <s>tok2 other")
	f.Add([]byte(`{"model":{"type":"WordLevel","vocab":{"?":0},"unk_token":"?"},"pre_tokenizer":{"type":"WhitespaceSplit"}}`), "a b")
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"],"unk_token":"a"},"normalizer":{"type":"NFC"},
"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|[^b]{1,3}"},"behavior":"MergedWithNext","invert":true}}`), "ab")
	for _, v := range readVariants(f) {
		f.Add(v.document(f), v.Texts[len(v.Texts)-1].Text)
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := parse("tokenizer.json", data, nil)
		if err != nil {
			return
		}
		ids := tok.Encode(text, true)
		if len(ids) != tok.Count(text, true) {
			t.Errorf("Encode gives %d ids, Count %d", len(ids), tok.Count(text, true))
		}
		tok.Decode(ids)
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("tok1 tok2\ntok99 <s> more")
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range []Tokenizer{Stub{Size: 100}, mustParse(t, wordLevelJSON())} {
			ids := tok.Encode(text, false)
			if again := tok.Encode(tok.Decode(ids), false); !slices.Equal(again, ids) {
				t.Errorf("%T: %v became %v", tok, ids, again)
			}
		}
	})
}

func BenchmarkStubCount(b *testing.B) {
	ids := make([]int, 1024)
	for i := range ids {
		ids[i] = 20000 + i
	}
	stub := Stub{Size: 32000}
	text := stub.Decode(ids)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		stub.Count(text, true)
	}
}
