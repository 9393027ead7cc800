package tokenizer

import "slices"

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
