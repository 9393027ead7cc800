package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bestCut tries, for each beginning of a text, each last token.
func bestCut(m *unigram, text string) (ids []int32) {
	type way struct {
		score float64
		last  int
		id    int32
	}
	ways := []way{{}}
	for end := 1; end <= len(text); end++ {
		ways = append(ways, way{last: -1})
		for start := range end {
			id, ok := m.vocab.id(text[start:end])
			score := m.missing
			if ok {
				score = m.scores[id]
			} else if id = m.unknown; end-start != len(string([]rune(text[start:])[0])) {
				continue
			}
			if w := ways[start].score + score; ways[start].last >= 0 && (ways[end].last < 0 || w > ways[end].score) {
				ways[end] = way{w, start, id}
			}
		}
	}
	for end, open := len(text), false; end > 0; end = ways[end].last {
		id := ways[end].id
		if id != m.unknown || !open {
			ids = append(ids, id)
		}
		open = id == m.unknown
	}
	slices.Reverse(ids)
	return ids
}

func TestTheBestCutIsFound(t *testing.T) {
	model := saved(t, "scores", `{}`).model.(*unigram)
	rng := rand.New(rand.NewPCG(7, 8))
	chars := []rune("▁the▁server▁answers▁服务器▁schnellßé🇩🇪")
	memory := new(word)
	for range 1000 {
		start := rng.IntN(len(chars))
		text := string(chars[start:min(len(chars), start+1+rng.IntN(30))])
		if rng.IntN(3) == 0 {
			text = strings.Repeat(text, 1+rng.IntN(4))
		}
		if got, want := model.tokens(memory, text), bestCut(model, text); !slices.Equal(got, want) {
			t.Fatalf("%q becomes %v, want %v", text, got, want)
		}
	}
}

func TestUnknownCharactersSideBySideAreOne(t *testing.T) {
	const vocab = `{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1],["ab",-1.5],["b",-2],["<0xE2>",-3],["<0x98>",-3],["<0x83>",-3],["a",-1]]`
	plain, bytes := mustParse(t, vocab+`}}`), mustParse(t, vocab+`,"byte_fallback":true}}`)
	for _, row := range []struct {
		text        string
		want, bytes []int
	}{
		{"ab", []int{2}, []int{2}},
		{"ba", []int{3, 7}, []int{3, 7}}, // of two equal tokens, the last one
		{"a☃☃b", []int{7, 0, 3}, []int{7, 4, 5, 6, 4, 5, 6, 3}},
		{"☃é", []int{0}, []int{0}}, // é has no bytes in the vocabulary
		{"☃aé", []int{0, 7, 0}, []int{4, 5, 6, 7, 0}},
		{"☃<unk>", []int{0}, []int{0}},
		{"<unk>", []int{0}, []int{0}},
		{"<0x98>", []int{5}, []int{5}},
	} {
		if got := plain.Encode(row.text, false); !slices.Equal(got, row.want) {
			t.Errorf("%q becomes %v, want %v", row.text, got, row.want)
		}
		if got := bytes.Encode(row.text, false); !slices.Equal(got, row.bytes) {
			t.Errorf("in bytes, %q becomes %v, want %v", row.text, got, row.bytes)
		}
	}
	if plain.VocabSize() != 8 {
		t.Errorf("the size is %d, want 8", plain.VocabSize())
	}
}

// The values are those that Hugging Face's library writes of these numbers.
func TestScoresAreReadAsTheLibraryDoes(t *testing.T) {
	for text, want := range map[string]float64{
		"-12.864072317121257": -12.864072317121256, "-7.9360912192871735": -7.936091219287173, "-3.4635426998138428": -3.4635426998138428,
		"0": 0, "-0.0": 0, "-7": -7, "12.5e1": 125, "125E-1": 12.5, "1.00000000000000000000000000001": 1, "123456789012345678901234.5": 1.2345678901234567e23,
	} {
		if got, ok := score([]byte(text)); !ok || got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "-", "null", `"1"`, "01", "1.", ".5", "+1", "inf", "0x1p3", "1e400", "1_0", "[1]", "1 "} {
		if got, ok := score([]byte(text)); ok {
			t.Errorf("%s is %v, want no number", text, got)
		}
	}
}

func TestUnigramsNeedTheirParts(t *testing.T) {
	for _, row := range []struct{ model, want string }{
		{`"vocab":[["a",-1]]`, `a file without unk_id is not supported yet`},
		{`"vocab":[["a",-1]],"unk_id":null`, `a file without unk_id is not supported yet`},
		{`"vocab":[["a",-1]],"unk_id":1`, `unk_id 1 is not in the vocabulary`},
		{`"vocab":[],"unk_id":0`, `unk_id 0 is not in the vocabulary`},
		{`"vocab":[["a"]],"unk_id":0`, `["a"] is not a token and its score`},
		{`"vocab":[["a","b"]],"unk_id":0`, `"b" is no score`},
		{`"vocab":[[1,-1]],"unk_id":0`, `vocab: unexpected JSON number`},
	} {
		_, err := parse("t.json", []byte(`{"model":{"type":"Unigram",`+row.model+`}}`), nil)
		if want := "t.json: model: " + row.want; err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", row.model, err, want)
		}
	}
}

func FuzzUnigramRoundTrip(f *testing.F) {
	f.Add("the server isn't done: 12,345 ms… Größe 服务器  \u0301\x00\n")
	tok := saved(f, "scores", `{"added_tokens":[],"normalizer":null,"post_processor":null,
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":false},
"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]}}`)
	model := tok.model.(*unigram)
	model.bytes = fallbacks(model.vocab)
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Encode(text, false)
		if n := tok.Count(text, false); n != len(ids) {
			t.Errorf("%q: Count = %d, Encode gives %d", text, n, len(ids))
		}
		if strings.Contains(text, "<0x") || strings.Contains(text, "<unk>") {
			return // these are tokens, of another text
		}
		want := strings.ReplaceAll(valid(text), "▁", " ")
		if got := tok.Decode(ids); got != want {
			t.Errorf("%q becomes %v and %q", text, ids, got)
		}
	})
}
