package tokenizer

// maxRecent is how many bytes a word has at most to be kept.
const maxRecent = 94

// recents is how many words a table of recent words holds: the words of some prompts.
const recents = 1 << 10

// A recentWord is a word and its tokens. The zero value is the empty word, which no splitter emits.
// It has no pointer, so that it costs the garbage collector nothing.
type recentWord struct {
	length, count uint8
	text          [maxRecent]byte
	ids           [24]int32
}

// recent is where a word with that hash is, if it came lately.
func (w *word) recent(hash uint64) *recentWord {
	if w.recents == nil {
		w.recents = new([recents]recentWord)
	}
	return &w.recents[hash%recents]
}

// recalled are the tokens of a word. They are made only if that has not been done lately: a text that
// is cut and encoded again repeats nearly all its words.
func (w *word) recalled(v *vocabulary, text string, made func(w *word, text string) []int32) []int32 {
	if len(text) > maxRecent {
		return made(w, text)
	}
	r := w.recent(v.hash(text))
	if r.is(text) {
		return r.ids[:r.count]
	}
	ids := made(w, text)
	r.set(text, ids)
	return ids
}

func (r *recentWord) is(text string) bool { return string(r.text[:r.length]) == text }

// set keeps a word of at most maxRecent bytes, unless it has too many tokens.
func (r *recentWord) set(text string, ids []int32) {
	if len(ids) <= len(r.ids) {
		r.length, r.count = uint8(copy(r.text[:], text)), uint8(copy(r.ids[:], ids))
	}
}
