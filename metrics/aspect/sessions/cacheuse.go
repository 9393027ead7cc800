package sessions

import (
	"math"

	"github.com/servebench/servebench/metrics/record"
)

// CacheUse counts prompt tokens of completed requests: how many the server found in its prefix
// cache, and how many a cache without limit would have had.
type CacheUse struct {
	// Planned are the prompt tokens, by the dataset's count, of the requests whose Reusable is known,
	// and Reusable how many of them a prefix cache without limit would have had.
	Planned  int
	Reusable int

	// Told are of the requests whose usage has cached tokens, and Silent of the others. Zeros are the
	// requests whose usage says that the server found none.
	Told   CacheTokens
	Silent CacheTokens
	Zeros  int
}

// CacheTokens are the prompt tokens of some requests.
type CacheTokens struct {
	Prompt int // all, by the server's count
	Cached int // in the server's prefix cache
	// Reused are the Cached ones of the requests whose Reusable is known, and Reusable that many.
	Reused   int
	Reusable int
}

func (t CacheTokens) plus(other CacheTokens) CacheTokens {
	return CacheTokens{t.Prompt + other.Prompt, t.Cached + other.Cached, t.Reused + other.Reused,
		t.Reusable + other.Reusable}
}

func (u CacheUse) plus(other CacheUse) CacheUse {
	return CacheUse{
		Planned: u.Planned + other.Planned, Reusable: u.Reusable + other.Reusable,
		Told: u.Told.plus(other.Told), Silent: u.Silent.plus(other.Silent), Zeros: u.Zeros + other.Zeros,
	}
}

// add counts a completed request.
func (u *CacheUse) add(r *record.Record) {
	tokens := CacheTokens{Prompt: r.Tokens.In, Cached: min(r.Tokens.Cached, r.Tokens.In)}
	if r.Session.Reusable >= 0 {
		u.Planned += r.Tokens.InAsked
		u.Reusable += r.Session.Reusable
		tokens.Reused, tokens.Reusable = tokens.Cached, r.Session.Reusable
	}
	if r.Tokens.Uncached {
		u.Zeros++
	}
	if r.Tokens.Cached > 0 || r.Tokens.Uncached {
		u.Told = u.Told.plus(tokens)
	} else {
		u.Silent = u.Silent.plus(tokens)
	}
}

// Known are the tokens of the requests whose cached tokens are known. A server that reports a 0
// reports all, so the silent requests are unknown. One that reports only other numbers, as vLLM
// does, leaves out a 0. If no request has a number, there are none.
func (u CacheUse) Known() CacheTokens {
	if u.Zeros > 0 || u.Told == (CacheTokens{}) {
		return u.Told
	}
	return u.Told.plus(u.Silent)
}

// CachedShare is the share of the prompt tokens that the server had in its prefix cache, 0 to 1; NaN
// if unknown.
func (u CacheUse) CachedShare() float64 {
	known := u.Known()
	return ratio(known.Cached, known.Prompt)
}

// ReusableShare is the share of the prompt tokens that a cache without limit would have had, 0 to 1;
// NaN if unknown.
func (u CacheUse) ReusableShare() float64 { return ratio(u.Reusable, u.Planned) }

// ReusedShare is how much of what could be reused was: the cached tokens divided by the reusable
// ones; NaN if unknown. It is above 1 if the server knew prompts from before the run.
func (u CacheUse) ReusedShare() float64 {
	known := u.Known()
	return ratio(known.Reused, known.Reusable)
}

// ratio is n divided by of; NaN for 0.
func ratio(n, of int) float64 {
	if of == 0 {
		return math.NaN()
	}
	return float64(n) / float64(of)
}
