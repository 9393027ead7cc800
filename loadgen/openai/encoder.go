package openai

import (
	"math"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A bodyFrame is a body without its prompt and its number of tokens to ask for, which go between the
// parts.
type bodyFrame struct{ before, middle, after string }

// Encoder returns a function that does what Encode does in less time: it writes what all bodies
// have in common once, and copies it. b must not change afterwards. The function is safe for
// concurrent use.
func (b *Body) Encoder() func(turn *dataset.Turn) ([]byte, error) {
	f, ok := b.frame()
	if !ok {
		return b.Encode
	}
	return func(turn *dataset.Turn) ([]byte, error) {
		if turn.Messages != nil || turn.TokenIDs != nil && b.Chat {
			return b.Encode(turn)
		}
		return f.fill(turn), nil
	}
}

// frame cuts a body at the places of its prompt and its length. It is not ok if Extra has taken the
// place of the prompt.
func (b *Body) frame() (f bodyFrame, ok bool) {
	const prompt, length = "\x00prompt\x00", math.MinInt
	body, err := b.Encode(&dataset.Turn{Prompt: prompt, OutputLen: length})
	text, mark, number := string(body), string(pyjson.Append(nil, prompt)), strconv.Itoa(length)
	if err != nil || strings.Count(text, mark) != 1 || strings.Count(text, number) > 1 {
		return bodyFrame{}, false
	}
	f.before, text, _ = strings.Cut(text, mark)
	f.middle, f.after, ok = strings.Cut(text, number)
	return f, ok
}

func (f *bodyFrame) fill(turn *dataset.Turn) []byte {
	const quotes, digits = len(`""`), len("-9223372036854775808")
	size := len(f.before) + len(turn.Prompt) + quotes + 8*len(turn.TokenIDs) + len(f.middle) + digits + len(f.after)
	body := append(make([]byte, 0, size), f.before...)
	if turn.TokenIDs != nil {
		body = pyjson.Append(body, turn.TokenIDs)
	} else {
		body = pyjson.Append(body, turn.Prompt)
	}
	body = append(body, f.middle...)
	body = strconv.AppendInt(body, int64(turn.OutputLen), 10)
	return append(body, f.after...)
}
