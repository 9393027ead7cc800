package tokenizer

import (
	"cmp"
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
	// The settings of BERT's normalizer. They overrule it in bertClasses, where the first two are
	// true if the file does not say.
	Lowercase    *bool `json:"do_lower_case"`
	ChineseChars *bool `json:"tokenize_chinese_chars"`
	StripAccents *bool `json:"strip_accents"`
	// AddedDecoder marks a complete file: with it, transformers does not read
	// special_tokens_map.json.
	AddedDecoder json.RawMessage `json:"added_tokens_decoder"`
	named        map[string]tokens
}

// named tokens are special, whatever tokenizer.json says about them.
var named = []string{
	"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
}

// bertClasses are transformers' classes that make BERT's normalizer themselves.
var bertClasses = []string{
	"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer", "MobileBertTokenizer",
	"MPNetTokenizer", "SqueezeBertTokenizer",
}

// modelClasses are the classes that transformers takes for the model_type of config.json, if
// tokenizer_config.json names none.
var modelClasses = map[string]string{
	"albert": "AlbertTokenizer", "bart": "RobertaTokenizer", "bert": "BertTokenizer", "camembert": "CamembertTokenizer",
	"clip":     "CLIPTokenizer",
	"convbert": "BertTokenizer", "data2vec-text": "RobertaTokenizer", "deberta": "DebertaTokenizer",
	"deberta-v2": "DebertaV2Tokenizer",
	"distilbert": "BertTokenizer", "electra": "BertTokenizer", "ernie": "BertTokenizer", "gemma": "GemmaTokenizer",
	"gemma2": "GemmaTokenizer",
	"gemma3": "GemmaTokenizer", "gemma3_text": "GemmaTokenizer", "gpt2": "GPT2Tokenizer", "gte": "XLMRobertaTokenizer",
	"ibert":              "RobertaTokenizer",
	"jina_embeddings_v3": "XLMRobertaTokenizer", "layoutlm": "BertTokenizer", "longformer": "RobertaTokenizer",
	"mbart":         "MBartTokenizer",
	"megatron-bert": "BertTokenizer", "mobilebert": "MobileBertTokenizer", "mpnet": "MPNetTokenizer",
	"mt5": "T5Tokenizer", "nllb": "NllbTokenizer",
	"nomic_bert": "BertTokenizer", "qwen2": "Qwen2Tokenizer", "qwen3": "Qwen2Tokenizer", "roberta": "RobertaTokenizer",
	"squeezebert": "BertTokenizer",
	"t5":          "T5Tokenizer", "xlm-roberta": "XLMRobertaTokenizer", "xlnet": "XLNetTokenizer",
}

// classDefaults are the named tokens of transformers' own classes, where
// tokenizer_config.json does not mention them.
var classDefaults = map[string]map[string]string{
	"AlbertTokenizer": {
		"bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "<unk>", "sep_token": "[SEP]", "pad_token": "<pad>",
		"cls_token": "[CLS]", "mask_token": "[MASK]",
	},
	"BartTokenizer":      robertaTokens,
	"BertTokenizer":      bertTokens,
	"CamembertTokenizer": robertaTokens,
	"CLIPTokenizer": {"bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>",
		"pad_token": "<|endoftext|>"},
	"ConvBertTokenizer":   bertTokens,
	"DebertaTokenizer":    debertaTokens,
	"DebertaV2Tokenizer":  debertaTokens,
	"DistilBertTokenizer": bertTokens,
	"ElectraTokenizer":    bertTokens,
	"LayoutLMTokenizer":   bertTokens,
	"LongformerTokenizer": robertaTokens,
	"MBartTokenizer":      robertaTokens,
	"MobileBertTokenizer": bertTokens,
	"MPNetTokenizer": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "[UNK]", "sep_token": "</s>",
		"pad_token": "<pad>", "cls_token": "<s>", "mask_token": "<mask>"},
	"NllbTokenizer":        robertaTokens,
	"RobertaTokenizer":     robertaTokens,
	"SqueezeBertTokenizer": bertTokens,
	"T5Tokenizer":          {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
	"XLMRobertaTokenizer":  robertaTokens,
	"XLNetTokenizer": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "<sep>",
		"pad_token": "<pad>", "cls_token": "<cls>", "mask_token": "<mask>"},
	"GPT2Tokenizer":  {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"},
	"Qwen2Tokenizer": {"eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
	"LlamaTokenizer": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
	"GemmaTokenizer": {
		"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>",
	},
}

var (
	bertTokens = map[string]string{"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]",
		"cls_token": "[CLS]", "mask_token": "[MASK]"}
	robertaTokens = map[string]string{
		"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>", "pad_token": "<pad>",
		"cls_token": "<s>", "mask_token": "<mask>",
	}
	debertaTokens = map[string]string{
		"bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]",
		"cls_token": "[CLS]", "mask_token": "[MASK]",
	}
)

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

// readSettings reads the settings in folder; nil if there are none.
func readSettings(folder string) (*settings, error) {
	s := &settings{named: make(map[string]tokens)}
	if found, err := s.read(filepath.Join(folder, "tokenizer_config.json")); err != nil || !found {
		return nil, err
	}
	if s.Class == "" {
		var config struct {
			Type string `json:"model_type"`
		}
		data, err := os.ReadFile(filepath.Join(folder, "config.json"))
		if err == nil && json.Unmarshal(data, &config) == nil {
			s.Class = modelClasses[config.Type]
		}
	}
	if absent(s.AddedDecoder) {
		more := settings{named: make(map[string]tokens)}
		if _, err := more.read(filepath.Join(folder, "special_tokens_map.json")); err != nil {
			return nil, err
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
	return s, nil
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
			if content, ok := classDefaults[s.class()][name]; ok {
				t = tokens{content}
			}
		}
		all = append(all, t...)
	}
	return all
}

// class is the class of transformers, without the Fast of version 4.
func (s *settings) class() string { return strings.TrimSuffix(s.Class, "Fast") }

// normalizer is the normalizer of a document with these settings, which may be nil.
func (s *settings) normalizer(of section) (normalizer, error) {
	if s == nil || of.kind() != "BertNormalizer" || !slices.Contains(bertClasses, s.class()) {
		return newNormalizer(of)
	}
	yes := true
	b := bertNormalizer{CleanText: true, ChineseChars: *cmp.Or(s.ChineseChars, &yes),
		Lowercase: *cmp.Or(s.Lowercase, &yes)}
	b.StripAccents = cmp.Or(s.StripAccents, &b.Lowercase)
	return rewriting(b.normalize), nil
}

// apply applies the settings to the tokens of p.
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
