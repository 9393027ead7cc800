package tokenizer

import (
	"maps"
	"slices"
	"sync"
	"unicode"
)

// scripts has the number of each rune's script, or 0 for a rune without one. As in SentencePiece,
// kana are Han, and a space belongs to any script. Four runes have another script since Unicode 9,
// which Hugging Face's library has.
var scripts = sync.OnceValue(func() []uint8 {
	numbers := make([]uint8, unicode.MaxRune+1)
	names := slices.Sorted(maps.Keys(unicode.Scripts))
	for i, name := range names {
		if name == "Hiragana" || name == "Katakana" {
			i = slices.Index(names, "Han")
		}
		for r := range runes(unicode.Scripts[name]) {
			numbers[r] = uint8(i + 1)
		}
	}
	common, devanagari, han := numbers['!'], numbers['\u0905'], numbers['\u4e00']
	numbers['\u0589'], numbers['\u061c'] = common, common
	numbers['\u0953'], numbers['\u0954'] = devanagari, devanagari
	numbers['\u30fc'], numbers[' '] = han, 0 // the sign of a long sound, whose script is Common
	return numbers
})

// byScript cuts where the script changes. What is before the first rune that has a script is lost,
// as in Hugging Face's library.
func byScript(text string, head int, emit emitter) {
	numbers := scripts()
	start, last := -1, uint8(0)
	for pos, r := range text {
		script := numbers[r]
		if script == 0 || script == last {
			continue
		}
		if start >= 0 {
			emit(text[start:pos], head-start)
		}
		start, last = pos, script
	}
	if start >= 0 {
		emit(text[start:], head-start)
	}
}
