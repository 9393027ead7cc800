package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An addedToken is found in the text before anything else.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // not within a word
	LStrip     bool   `json:"lstrip"`      // takes the white space before it
	RStrip     bool   `json:"rstrip"`      // takes the white space after it
	Normalized bool   `json:"normalized"`  // looked for in normalized text
	Special    bool   `json:"special"`
}

// addedTokens finds added tokens in a text: the longest of the tokens that start
// first.
type addedTokens struct {
	tokens []addedToken
	starts string // the bytes that a content can begin with
	// The contents as a tree. Node 0 is the root.
	first [256]int32         // the nodes below the root
	below map[treeEdge]int32 // all other edges
	ends  map[int32]int      // node → the token that ends there
}

type treeEdge struct {
	node int32
	next byte
}

// newAddedTokens makes a finder of tokens; written changes their content to what a text has.
func newAddedTokens(tokens []addedToken, written func(string) string) *addedTokens {
	a := &addedTokens{tokens: tokens, below: make(map[treeEdge]int32), ends: make(map[int32]int)}
	nodes := int32(0)
	for i, t := range tokens {
		content := written(t.Content)
		node := int32(0)
		for j := range len(content) {
			next := a.child(node, content[j])
			if next == 0 {
				nodes++
				next = nodes
				if node == 0 {
					a.first[content[j]] = next
					a.starts += content[j : j+1]
				} else {
					a.below[treeEdge{node, content[j]}] = next
				}
			}
			node = next
		}
		if _, taken := a.ends[node]; !taken && node != 0 {
			a.ends[node] = i
		}
	}
	return a
}

func (a *addedTokens) child(node int32, b byte) int32 {
	if node == 0 {
		return a.first[b]
	}
	return a.below[treeEdge{node, b}]
}

// find returns the first added token in text at or after from, and where it is.
// Without one, start is the length of text.
func (a *addedTokens) find(text string, from int) (start, end int, t *addedToken) {
	for start := a.start(text, from); start < len(text); start = a.start(text, start+1) {
		node := a.first[text[start]]
		for pos := start + 1; node != 0; pos++ {
			if i, ok := a.ends[node]; ok {
				end, t = pos, &a.tokens[i]
			}
			if pos == len(text) {
				break
			}
			node = a.child(node, text[pos])
		}
		if t != nil {
			return start, end, t
		}
	}
	return len(text), len(text), nil
}

// start is where an added token may start in text at or after from.
func (a *addedTokens) start(text string, from int) int {
	switch len(a.starts) {
	case 0:
		return len(text)
	case 1:
		if i := strings.IndexByte(text[from:], a.starts[0]); i >= 0 {
			return from + i
		}
		return len(text)
	}
	for from < len(text) && a.first[text[from]] == 0 {
		from++
	}
	return from
}

// split emits the parts of text in order: the added tokens, and the text between
// them with a nil token. start is where the part begins.
func (a *addedTokens) split(text string, emit func(part string, start int, t *addedToken)) {
	done := 0
	for from := 0; ; {
		start, end, t := a.find(text, from)
		if t == nil {
			break
		}
		from = end
		if t.SingleWord && (endsInWord(text[:start]) || startsInWord(text[end:])) {
			continue
		}
		if t.LStrip {
			start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if t.RStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if done < start {
			emit(text[done:start], done, nil)
		}
		if start < end {
			emit(text[start:end], start, t)
		}
		done = end
	}
	if done < len(text) {
		emit(text[done:], done, nil)
	}
}

func startsInWord(text string) bool {
	r, width := utf8.DecodeRuneInString(text)
	return width > 0 && inWord(r)
}

func endsInWord(text string) bool {
	r, width := utf8.DecodeLastRuneInString(text)
	return width > 0 && inWord(r)
}

// inWord is \w of the Unicode regular expressions.
func inWord(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic) ||
		r == nonJoiner || r == joiner
}

// place gives tokens the ids that Hugging Face's library gives them, whatever the
// file says: the id in the vocabulary, or else one after the size of the vocabulary. It leaves out
// tokens without content. Of tokens with one content, the last one counts; it is special if one is.
func place(tokens []addedToken, vocab *vocabulary) []addedToken {
	var placed []addedToken
	at := make(map[string]int) // in placed
	next := vocab.size
	for _, t := range tokens {
		i, again := at[t.Content]
		switch id, known := vocab.id(t.Content); {
		case t.Content == "":
			continue
		case again:
			t.ID, t.Special = placed[i].ID, t.Special || placed[i].Special
			placed[i] = t
			continue
		case known:
			t.ID = int(id)
		default:
			t.ID = next
			next++
		}
		at[t.Content] = len(placed)
		placed = append(placed, t)
	}
	return placed
}

// specialIDs are the ids of the special tokens, ascending.
func specialIDs(tokens []addedToken) []int {
	var ids []int
	for _, t := range tokens {
		if t.Special {
			ids = append(ids, t.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
