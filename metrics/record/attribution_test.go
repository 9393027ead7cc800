package record

import (
	"testing"
	"time"
)

// Unless each chunk's tokens are known, they are spread, and their sum is right.
func TestTokensAreAttributedToChunks(t *testing.T) {
	const msec = time.Millisecond
	for name, c := range map[string]struct {
		content time.Duration // of the first chunk with content
		out     int
		each    []int
		chunks  []time.Duration
		kind    Knowledge
		want    []int
	}{
		"one each":               {0, 3, nil, []time.Duration{1, 3, 6}, KnownTokens, []int{1, 1, 1}},
		"a role first":           {2 * msec, 2, nil, []time.Duration{1, 2, 6}, KnownTokens, []int{0, 1, 1}},
		"a role in its packet":   {0, 2, nil, []time.Duration{1, 1, 6}, KnownTokens, []int{0, 1, 1}},
		"a finish chunk":         {0, 2, nil, []time.Duration{1, 4, 6}, KnownTokens, []int{1, 1, 0}},
		"more tokens":            {0, 8, nil, []time.Duration{1, 3, 6}, MoreTokens, []int{2, 3, 3}},
		"fewer tokens":           {0, 1, nil, []time.Duration{1, 3, 6, 9}, FewerTokens, []int{0, 0, 0, 1}},
		"counted by the server":  {0, 6, []int{0, 1, 2, 3, 0}, []time.Duration{1, 2, 3, 4, 4}, KnownTokens, []int{0, 1, 2, 3, 0}},
		"counts of another sum":  {0, 3, []int{1, 1, 2}, []time.Duration{1, 3, 6}, KnownTokens, []int{1, 1, 1}},
		"counts of other chunks": {0, 3, []int{1, 2}, []time.Duration{1, 3, 6}, KnownTokens, []int{1, 1, 1}},
	} {
		r := &Record{Tokens: Tokens{Out: c.out, PerChunk: c.each}, Times: Times{FirstContent: c.content}}
		for _, at := range c.chunks {
			r.Answer.Chunks.Append(at * msec)
		}
		for _, ends := range []bool{false, true} { // only the first and the last chunk's times are known
			if ends && (c.content > 0 || name == "a role in its packet") {
				continue
			}
			a, i := Attribute(r), 0
			for at, n := range a.Arrivals(r) {
				if n != c.want[i] || !ends && at != c.chunks[i]*msec {
					t.Errorf("%s: chunk %d at %v has %d tokens, want %v", name, i, at, n, c.want)
				}
				i++
			}
			if a.Kind != c.kind || i != len(c.want) {
				t.Errorf("%s: kind %d of %d chunks, want %d", name, a.Kind, i, c.kind)
			}
			r.Answer.Chunks = r.Answer.Chunks.Ends()
		}
	}
}
