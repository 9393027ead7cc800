package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// settings are what transformers' tokenizer_config.json adds to a tokenizer.json.
type settings struct {
	Class      string `json:"tokenizer_class"`
	Clean      bool   `json:"clean_up_tokenization_spaces"`
	CleanBPE   bool   `json:"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"`
	Additional tokens `json:"additional_special_tokens"`
	Extra      tokens `json:"extra_special_tokens"`
	// AddedDecoder marks a complete file: with it, transformers does not read
	// special_tokens_map.json.
	AddedDecoder json.RawMessage `json:"added_tokens_decoder"`
	named        map[string]tokens
}

// named tokens are special, whatever tokenizer.json says about them.
var named = []string{
	"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
}

// classDefaults are the named tokens of transformers' own classes, where
// tokenizer_config.json does not mention them.
var classDefaults = map[string]map[string]string{
	"GPT2Tokenizer":  {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"},
	"Qwen2Tokenizer": {"eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
	"LlamaTokenizer": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
	"GemmaTokenizer": {
		"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>",
	},
}

// tokens are the contents of tokens. A file has them as a string, as an object with
// a content, or as a list or a map of these.
type tokens []string

func (t *tokens) UnmarshalJSON(raw []byte) error {
	var content string
	var list []tokens
	var object map[string]json.RawMessage
	*t = nil
	switch {
	case string(raw) == "null":
	case json.Unmarshal(raw, &content) == nil:
		*t = tokens{content}
	case json.Unmarshal(raw, &list) == nil:
		for _, one := range list {
			*t = append(*t, one...)
		}
	case json.Unmarshal(raw, &object) == nil:
		if one, ok := object["content"]; ok {
			return json.Unmarshal(one, t)
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			var one tokens
			if err := json.Unmarshal(object[key], &one); err != nil {
				return err
			}
			*t = append(*t, one...)
		}
	default:
		return fmt.Errorf("%s is no token", raw)
	}
	return nil
}

// readSettings reads the settings in folder. If there are none, found is false.
func readSettings(folder string) (s *settings, found bool, err error) {
	s = &settings{named: make(map[string]tokens)}
	if found, err = s.read(filepath.Join(folder, "tokenizer_config.json")); err != nil || !found {
		return s, found, err
	}
	if absent(s.AddedDecoder) {
		more := settings{named: make(map[string]tokens)}
		if _, err := more.read(filepath.Join(folder, "special_tokens_map.json")); err != nil {
			return s, true, err
		}
		for name, t := range more.named {
			if len(s.named[name]) == 0 {
				s.named[name] = t
			}
		}
		if len(s.Additional) == 0 {
			s.Additional = more.Additional
		}
	}
	return s, true, nil
}

func (s *settings) read(path string) (found bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	data = pyjson.StrictText(data)
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(data, s); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range named {
		if raw, ok := all[name]; ok {
			var t tokens
			if err := json.Unmarshal(raw, &t); err != nil {
				return false, fmt.Errorf("%s: %s: %w", path, name, err)
			}
			s.named[name] = t
		}
	}
	return true, nil
}

// special are the contents of all special tokens.
func (s *settings) special() []string {
	all := slices.Concat(s.Additional, s.Extra)
	for _, name := range named {
		t, ok := s.named[name]
		if !ok {
			if content, ok := classDefaults[strings.TrimSuffix(s.Class, "Fast")][name]; ok {
				t = tokens{content}
			}
		}
		all = append(all, t...)
	}
	return all
}

// apply applies the settings to p.
func (p *pipeline) apply(s *settings) {
	_, bpe := p.model.(*bpe)
	p.clean = s.Clean && (s.CleanBPE || !bpe)
	p.special = nil
	for _, content := range s.special() {
		// A token outside the vocabulary does not matter: text never becomes it.
		if id := p.id(content); id >= 0 {
			p.special = append(p.special, id)
		}
	}
	slices.Sort(p.special)
	p.special = slices.Compact(p.special)
}

// cleanUp removes spaces before punctuation, as transformers does and in its order.
func cleanUp(text string) string {
	for _, after := range []string{".", "?", "!", ","} {
		text = strings.ReplaceAll(text, " "+after, after)
	}
	text = strings.ReplaceAll(text, " ' ", "'")
	for _, after := range []string{"n't", "'m", "'s", "'ve", "'re"} {
		text = strings.ReplaceAll(text, " "+after, after)
	}
	return text
}

// FlaggedSpecial is t with more SpecialIDs: also the added tokens that are flagged as special in its
// file, whether or not tokenizer_config.json names them.
func FlaggedSpecial(t Tokenizer) Tokenizer {
	p, ok := t.(*pipeline)
	if !ok {
		return t
	}
	ids := append(p.SpecialIDs(), p.flagged...)
	slices.Sort(ids)
	return specialised{t, slices.Compact(ids)}
}

// A specialised tokenizer has other special ids.
type specialised struct {
	Tokenizer
	ids []int
}

func (s specialised) SpecialIDs() []int { return slices.Clone(s.ids) }
