// Package tokenizer turns text into token ids and back, from a Hugging Face tokenizer.json, in pure
// Go.
//
// A tokenizer is opened once and then only read. Open refuses, by name, everything in a
// tokenizer.json that this package does not know. So a token count is either the real tokenizer's
// or an error, never an estimate.
//
// The real tokenizer is Hugging Face's library, for code points that its Unicode and Go's both
// assign: Unicode 9 for composed and decomposed text and for scripts, otherwise Go's.
package tokenizer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Tokenizer is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the ids of text. With special, they include the ids that the
	// post-processor adds around a single sequence, such as BOS.
	Encode(text string, special bool) []int
	// Count is the number of ids that Encode returns. It does not make them.
	Count(text string, special bool) int
	// Decode returns the text of ids, special tokens included. It leaves out ids that
	// are not in the vocabulary.
	Decode(ids []int) string
	// VocabSize is the size of the base vocabulary, without added tokens.
	VocabSize() int
	// SpecialIDs are the ids of all special tokens, ascending.
	SpecialIDs() []int
	// NumSpecial is how many tokens Encode adds to a single sequence when
	// special is set.
	NumSpecial() int
}

const tokenizerFile = "tokenizer.json"

// Open opens the tokenizer called name. "stub-N" is the Stub with N words. Any other name is a
// tokenizer.json file, a folder that holds one, or the name of a model in Hugging Face's local
// cache, as the package cache finds it. Open downloads nothing.
//
// In a folder, tokenizer_config.json has the same effect as in transformers 5. The special tokens
// are then the ones that it names (bos_token, additional_special_tokens …), as in all_special_ids;
// without it they are the added tokens flagged as special. In the class BertTokenizer and its kin,
// do_lower_case, strip_accents and tokenize_chinese_chars overrule the BertNormalizer of the file, as
// in transformers 4, too. And clean_up_tokenization_spaces does nothing for a BPE model, unless
// clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output is set as well.
// Transformers 4 did clean up, so its decoded text can differ.
//
// Transformers 5 makes more parts of some classes by itself, such as XLMRobertaTokenizer. Open follows
// tokenizer.json there, as transformers 4 does and the library tokenizers.
func Open(name string) (Tokenizer, error) {
	if size, ok := strings.CutPrefix(name, "stub-"); ok {
		if n, err := strconv.Atoi(size); err == nil && n > 0 {
			return Stub{Size: n}, nil
		}
	}
	path := name
	stat, err := os.Stat(name)
	if os.IsNotExist(err) && (filepath.IsAbs(name) || strings.HasPrefix(name, "~") || strings.HasPrefix(name, ".")) {
		return nil, fmt.Errorf("tokenizer %q: there is no such file or folder", name)
	}
	if os.IsNotExist(err) {
		folder, missing := cached(name)
		switch {
		case errors.Is(missing, fs.ErrNotExist):
			return nil, fmt.Errorf("tokenizer %q: there is no file %s, the name is not stub-N, and the Hugging Face cache "+
				"has %w: "+
				"give the folder of the model, a name that the cache has, or stub-32000 for made-up words", name, name, missing)
		case missing != nil:
			return nil, fmt.Errorf("tokenizer %q: %w", name, missing)
		}
		path = folder
	} else if err != nil {
		return nil, fmt.Errorf("tokenizer %q: %w", name, err)
	}
	var s *settings
	if stat == nil || stat.IsDir() {
		if s, err = readSettings(path); err != nil {
			return nil, fmt.Errorf("tokenizer %q: %w", name, err)
		}
		path = filepath.Join(path, tokenizerFile)
	}
	data, err := readObject(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: no other form of a tokenizer is read, and transformers makes this one with save_pretrained",
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer %q: %w", name, err)
	}
	t, err := parse(path, data, s)
	if err != nil {
		return nil, err // not the nil of t, which would be a non-nil Tokenizer
	}
	return t, nil
}

// readObject reads a file that holds a JSON object. It looks at the beginning first: servers name a
// model by the path of its weights, which may be larger than the memory.
func readObject(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	start, _ := r.Peek(len("GGUF")) // an error here repeats below
	if len(start) > 0 && !strings.ContainsRune(" \t\r\n{", rune(start[0])) {
		return nil, fmt.Errorf("%s is not a tokenizer.json: it begins with %q", path, start)
	}
	var data bytes.Buffer
	if stat, err := f.Stat(); err == nil && stat.Mode().IsRegular() {
		data.Grow(int(stat.Size()) + bytes.MinRead)
	}
	_, err = data.ReadFrom(r)
	return data.Bytes(), err
}
