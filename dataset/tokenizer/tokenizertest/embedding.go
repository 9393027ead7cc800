package tokenizertest

import (
	"encoding/json"
	"math/rand/v2"
)

// The sizes of the vocabularies of BERT and of XLM-R.
const (
	bertWords = 30_522
	xlmrWords = 250_002
)

// BERT is the text of a tokenizer.json that is a WordPiece like BERT's uncased one, with its size.
// Half of its tokens are parts of words. It is the same at each call.
func BERT() []byte {
	vocab := map[string]int{"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}
	for r := ' ' + 1; r < 0x7f; r++ {
		vocab[string(r)] = len(vocab)
		vocab["##"+string(r)] = len(vocab)
	}
	draw := rand.New(rand.NewPCG(3, 4))
	for len(vocab) < bertWords {
		word := []string{"", "##"}[len(vocab)%2] + letters(draw)
		if _, known := vocab[word]; !known {
			vocab[word] = len(vocab)
		}
	}
	return document(object{
		"added_tokens": []object{special(0, "[UNK]"), special(1, "[CLS]"), special(2, "[SEP]")},
		"normalizer": object{
			"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true,
		},
		"pre_tokenizer":  object{"type": "BertPreTokenizer"},
		"post_processor": object{"type": "BertProcessing", "sep": []any{"[SEP]", 2}, "cls": []any{"[CLS]", 1}},
		"decoder":        object{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": object{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
			"vocab": vocab,
		},
	})
}

// XLMR is the text of a tokenizer.json that is a Unigram like XLM-R's, with its size. Half of its
// tokens begin a word. It is the same at each call.
func XLMR() []byte {
	draw := rand.New(rand.NewPCG(5, 6))
	vocab := [][]any{{"<s>", 0.0}, {"</s>", 0.0}, {"<unk>", 0.0}}
	known := make(map[string]bool)
	add := func(piece string) {
		if !known[piece] {
			known[piece] = true
			vocab = append(vocab, []any{piece, -3 - 10*draw.Float64()})
		}
	}
	for r := ' ' + 1; r < 0x7f; r++ {
		add(string(r))
	}
	for len(vocab) < xlmrWords {
		add([]string{"▁", ""}[len(vocab)%2] + letters(draw))
	}
	space := object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
	return document(object{
		"added_tokens":  []object{special(0, "<s>"), special(1, "</s>"), special(2, "<unk>")},
		"normalizer":    object{"type": "Replace", "pattern": object{"Regex": " {2,}"}, "content": " "},
		"pre_tokenizer": space,
		"post_processor": object{
			"type": "RobertaProcessing", "sep": []any{"</s>", 1}, "cls": []any{"<s>", 0}, "trim_offsets": true,
			"add_prefix_space": true,
		},
		"decoder": space,
		"model":   object{"type": "Unigram", "unk_id": 2, "vocab": vocab, "byte_fallback": false},
	})
}

// letters are two to nine letters, some of which are frequent.
func letters(draw *rand.Rand) string {
	word := make([]byte, 2+draw.IntN(8))
	for i := range word {
		word[i] = byte('a' + draw.IntN(5)*draw.IntN(6))
	}
	return string(word)
}

type object map[string]any

func special(id int, content string) object {
	return object{"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
		"normalized": false, "special": true}
}

// document is the text of a tokenizer.json.
func document(parts object) []byte {
	parts["version"] = "1.0"
	parts["truncation"], parts["padding"] = nil, nil
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and numbers can always be written
	}
	return text
}
