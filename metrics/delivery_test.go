package metrics

import (
	"testing"
	"time"
)

// replied is a request of 500 ms with so many tokens, of which the first came after
// so long and the others evenly up to the end.
func replied(tokens int, first time.Duration) *Record {
	r := &Record{Sent: time.Second, Out: tokens}
	for i := range tokens {
		r.Chunks.Append(r.Sent + first + (500*msec-first)*time.Duration(i)/time.Duration(max(tokens-1, 1)))
	}
	r.FirstContent, r.Last, r.End = r.Chunks.First(), r.Sent+500*msec, r.Sent+500*msec
	return r
}

func TestAnswersAllAtOnce(t *testing.T) {
	bundled := replied(1, 500*msec)
	bundled.Out = 40
	role := replied(40, 500*msec)
	role.Chunks = Stamps{}
	role.Chunks.Append(role.Sent + msec)
	for range 40 {
		role.Chunks.Append(role.Last)
	}
	hidden := replied(20, 420*msec) // after a thousand tokens of which nothing came
	hidden.Out = 1020
	hidden.Last, hidden.End = hidden.Last+time.Second, hidden.End+time.Second
	uncounted := replied(40, 499*msec)
	uncounted.Out, uncounted.Uncounted = 1, true
	for name, c := range map[string]struct {
		r          *Record
		of, atOnce int
	}{
		"a stream":                     {replied(40, 50*msec), 1, 0},
		"a long prompt, a quick model": {replied(40, 450*msec), 1, 0},
		"within 3 ms at the end":       {replied(40, 497*msec), 1, 1},
		"within 5 ms at the end":       {replied(40, 495*msec), 1, 0},
		"one chunk":                    {bundled, 1, 1},
		"a hidden reasoning":           {hidden, 1, 0},
		"a role at once":               {role, 1, 1},
		"chunks that nobody counted":   {uncounted, 1, 1},
		"four tokens":                  {replied(4, 500*msec), 0, 0},
		"more than 500 in 500 ms":      {replied(502, 500*msec), 1, 0},
	} {
		var d Delivery
		if d.add(c.r); d.Of != c.of || d.AtOnce != c.atOnce {
			t.Errorf("%s: %+v, want %d at once of %d", name, d, c.atOnce, c.of)
		}
	}
}

func TestWhoCountedTokens(t *testing.T) {
	for name, c := range map[string]struct {
		r         Record
		tokenizer string
		want      Counts
	}{
		"the server":                    {Record{Out: 1, OutAsked: 9}, "", Counts{Of: 1}},
		"the tokenizer":                 {Record{Out: 7, OutAsked: 9, Uncounted: true}, "gpt2", Counts{Of: 1, Tokenizer: 1}},
		"the tokenizer, one":            {Record{Out: 1, OutAsked: 9, Uncounted: true}, "gpt2", Counts{Of: 1, Tokenizer: 1}},
		"a tokenizer that has no name":  {Record{Out: 7, OutAsked: 9, Uncounted: true}, "", Counts{Of: 1, Tokenizer: 1}},
		"nobody":                        {Record{Out: 1, OutAsked: 9, Uncounted: true}, "", Counts{Of: 1, Nobody: 1}},
		"nobody, of unknown length":     {Record{Out: 1, Uncounted: true}, "", Counts{Of: 1, Nobody: 1}},
		"nobody, and there is only one": {Record{Out: 1, OutAsked: 1, Uncounted: true}, "", Counts{Of: 1}},
	} {
		var n Counts
		if n.add(&c.r); n.by(c.tokenizer) != c.want {
			t.Errorf("%s: %+v, want %+v", name, n.by(c.tokenizer), c.want)
		}
	}
}

// More than was asked for is wrong with any flags, fewer where ignore_eos was sent.
func TestLengthsAgainstWhatWasAskedFor(t *testing.T) {
	both := Lengths{Of: 9, Short: 2, Missing: 5, Long: 3, Extra: 7, Reasons: map[string]int{"stop": 2}}
	for _, c := range []struct {
		config      Config
		short, long int
	}{
		{Config{IgnoreEOS: true}, 2, 3},
		{Config{}, 0, 3},
		{Config{OwnLength: true}, 0, 0},
	} {
		if got := both.against(&c.config); got.Short != c.short || got.Long != c.long || (got.Reasons == nil) != (c.short == 0) {
			t.Errorf("%+v: %+v", c.config, got)
		}
	}
}

// Without a tokenizer by the user's choice no number in the block is wrong.
func TestTokensThatAreNotReportedNeedNoCount(t *testing.T) {
	s := clean()
	s.Header.Config.SkipTokenizer, s.Truth.Counts = true, Counts{Of: 200, Nobody: 200}
	if s.Judge(); s.Trust.Verdict != Valid {
		t.Errorf("SUSPECT for %q", failing(s))
	}
}

func TestACanvasIsMadeAtOnce(t *testing.T) {
	s := clean()
	s.Truth.Delivery, s.Diffusion = Delivery{Of: 200, AtOnce: 200}, new(Diffusion)
	if s.Judge(); len(s.Trust.Failed()) != 0 {
		t.Errorf("SUSPECT for %q", failing(s))
	}
}

func TestAReaderThatIsLateMakesNoGateway(t *testing.T) {
	s := inUserSpace(clean(), 4)
	s.Truth.Delivery = Delivery{Of: 200, AtOnce: 200}
	if s.Judge(); len(s.Trust.Failed()) != 0 {
		t.Errorf("SUSPECT for %q", failing(s))
	}
}
