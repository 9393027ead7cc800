package exchange_test

import (
	"testing"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// llama.cpp's server counts in the chunk with the finish reason, where vLLM's client
// does not look: it counts by its tokenizer. Ours may be the server's own, which is not
// to be asked while it is under load.
func TestAServerIsNotAskedWhatItHasSaid(t *testing.T) {
	for name, c := range map[string]struct {
		target engine.Target
		out    int
		unsaid bool
		asked  bool
	}{
		"another tokenizer":      {engine.Target{}, 99, true, true},
		"the server's tokenizer": {engine.Target{CountAsks: true}, 12, false, false},
	} {
		asked := false
		c.target.Send = openAIAt(wiretest.DialRaw(transcript(t, "llamacpp-completions-usage")), false).Send
		c.target.Count = func(string) int { asked = true; return 99 }
		rec := c.target.Once(t.Context(), &engine.Request{Body: []byte("{}")})
		if rec.Result.Class != record.OK || rec.Tokens.Out != c.out || rec.Tokens.Uncounted != c.unsaid || asked != c.asked {
			t.Errorf("%s: %d tokens, uncounted %t, asked %t: %+v", name, rec.Tokens.Out, rec.Tokens.Uncounted, asked, rec)
		}
	}
}
