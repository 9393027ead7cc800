package tokenizer

import (
	"cmp"
	"fmt"
	"slices"
)

// An addedToken is found in the text before anything else looks at it.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`     // takes the white space before it
	RStrip     bool   `json:"rstrip"`     // takes the white space after it
	Normalized bool   `json:"normalized"` // is looked for in normalized text
	Special    bool   `json:"special"`
}

// addedTokens finds added tokens in a text, by their first byte. Of those that
// start at one place, the longest comes first.
type addedTokens [256][]addedToken

func newAddedTokens(tokens []addedToken) (*addedTokens, error) {
	var a addedTokens
	for _, t := range tokens {
		if t.Content == "" || t.ID < 0 {
			return nil, fmt.Errorf("added token %d has no content or a negative id", t.ID)
		}
		if t.SingleWord {
			return nil, fmt.Errorf("single_word of added token %q is not supported yet", t.Content)
		}
		a[t.Content[0]] = append(a[t.Content[0]], t)
	}
	for _, same := range a {
		slices.SortStableFunc(same, func(x, y addedToken) int { return cmp.Compare(len(y.Content), len(x.Content)) })
	}
	return &a, nil
}

// find gives the first added token in text and where it stands. Without one,
// start and end are the length of text.
func (a *addedTokens) find(text string) (start, end, id int) {
	for i := range len(text) {
		for _, t := range a[text[i]] {
			if rest := text[i:]; len(rest) >= len(t.Content) && rest[:len(t.Content)] == t.Content {
				return i, i + len(t.Content), t.ID
			}
		}
	}
	return len(text), len(text), 0
}

// specialIDs are the ids of the special ones among tokens, ascending.
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
