package metrics

import (
	"iter"
	"slices"
	"time"
)

// ChunkTokens says how the output tokens of completed requests came in chunks. The tokens of each
// chunk are known if the server counted them with every chunk, or if the request has as many tokens
// as chunks, apart from a role and a finish chunk.
type ChunkTokens struct {
	Known   int   `json:"known"`             // requests whose tokens are known chunk by chunk
	Bundled int   `json:"bundled,omitempty"` // others, with more tokens than chunks
	Fewer   int   `json:"fewer,omitempty"`   // others, with fewer: without usage, or with empty chunks
	Chunks  int64 `json:"chunks"`            // that carried tokens, in known and bundled requests
	Blank   int64 `json:"blank,omitempty"`   // that carried none, in known requests
	Tokens  int64 `json:"tokens"`            // in known and bundled requests
	Largest int   `json:"largest,omitempty"` // most tokens in one chunk, in known requests
}

// Mean is the mean number of tokens in a chunk, 0 if unknown.
func (c ChunkTokens) Mean() float64 {
	if c.Chunks == 0 {
		return 0
	}
	return float64(c.Tokens) / float64(c.Chunks)
}

// Differ reports that a chunk is not a token, so counting chunks does not count tokens. It ignores
// as many requests as Bundles does.
func (c ChunkTokens) Differ() bool { return c.Bundles() || c.Largest > 1 }

// Bundles reports that more than one request in a hundred had more tokens than chunks: too many to
// speak of single tokens.
func (c ChunkTokens) Bundles() bool { return c.Bundled*100 > c.Known+c.Bundled+c.Fewer }

// plus is the sum of c and other.
func (c ChunkTokens) plus(other ChunkTokens) ChunkTokens {
	return ChunkTokens{
		Known: c.Known + other.Known, Bundled: c.Bundled + other.Bundled, Fewer: c.Fewer + other.Fewer,
		Chunks: c.Chunks + other.Chunks, Blank: c.Blank + other.Blank,
		Tokens: c.Tokens + other.Tokens, Largest: max(c.Largest, other.Largest),
	}
}

// counts are the ChunkTokens of this request.
func (a *attribution) counts() ChunkTokens {
	switch a.kind {
	case fewer:
		return ChunkTokens{Fewer: 1}
	case bundled:
		return ChunkTokens{Bundled: 1, Chunks: int64(a.chunks), Tokens: int64(a.tokens)}
	}
	c := ChunkTokens{Known: 1, Chunks: int64(a.full), Tokens: int64(a.tokens), Largest: 1}
	if a.each != nil {
		c.Largest = slices.Max(a.each)
	}
	c.Blank = int64(a.chunks) - c.Chunks
	return c
}

// An attribution says how many tokens each chunk of a request carried. Unless its kind is known, it
// is a guess with the right sum.
type attribution struct {
	kind           int
	chunks, tokens int
	full           int   // chunks with tokens
	each           []int // tokens of each; nil for one in each, except blanks at both ends
	lead           int   // blank chunks before the first token
}

const (
	known   = iota
	bundled // more tokens than chunks
	fewer   // fewer tokens than chunks that could carry them
)

// attribute computes what r's chunks carried. r completed and has chunks.
func (r *Record) attribute() attribution {
	a := attribution{chunks: r.Chunks.Len(), tokens: min(max(r.Out, 0), maxChunks)}
	if a.count(r.TokensPerChunk) {
		return a
	}
	blank := a.chunks - a.tokens
	if blank < 0 {
		a.kind = bundled
		return a
	}
	// A role chunk precedes the content, often in one packet with its beginning; a finish chunk may
	// follow.
	a.lead = min(blank, r.before())
	a.full = a.tokens
	if blank-a.lead > 1 || a.tokens == 0 {
		a.kind = fewer
	}
	return a
}

// arrivals yields when each chunk came, and its tokens. If single chunk times are unknown, they are
// spread evenly.
func (r *Record) arrivals(a *attribution) iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		if !r.Chunks.Gapless() {
			i := 0
			for at := range r.Chunks.All() {
				if !yield(at, a.at(i)) {
					return
				}
				i++
			}
			return
		}
		first, whole := r.Chunks.First(), float64(r.Chunks.Last()-r.Chunks.First())
		for i := range a.chunks {
			if !yield(first+time.Duration(whole*float64(i)/float64(a.chunks-1)), a.at(i)) {
				return
			}
		}
	}
}

// count uses the server's counts, if they are complete.
func (a *attribution) count(each []int) bool {
	sum := 0
	a.full = 0
	for _, n := range each {
		if n < 0 || n > a.tokens {
			return false
		}
		sum += n
		if n > 0 {
			a.full++
		}
	}
	if len(each) != a.chunks || sum != a.tokens || sum == 0 {
		return false
	}
	a.each = each
	return true
}

// before is how many chunks came before the first with content.
func (r *Record) before() int {
	n, first := 0, r.Chunks.First()
	if r.FirstContent > first {
		for at := range r.Chunks.All() {
			if at >= r.FirstContent {
				break
			}
			n++
		}
		return n
	}
	for gap := range r.Chunks.Gaps() {
		if gap == 0 {
			n = 1
		}
		break
	}
	return n
}

// at is how many tokens chunk i carried.
func (a *attribution) at(i int) int {
	switch {
	case a.each != nil:
		return a.each[i]
	case a.kind != known:
		return (i+1)*a.tokens/a.chunks - i*a.tokens/a.chunks
	case i < a.lead || i >= a.lead+a.full:
		return 0
	}
	return 1
}

// A Delivery says how the answers of completed requests came: whether as a stream, and what came
// before the first output.
type Delivery struct {
	// Of are requests with enough tokens to recognise a stream, and AtOnce those whose output came
	// all at once, long after they were sent.
	Of     int `json:"of,omitempty"`
	AtOnce int `json:"at_once,omitempty"`

	// Content are requests that got output, and Early those whose TTFT ended before the first
	// output. Ahead is the sum of the differences.
	Content int           `json:"content,omitempty"`
	Early   int           `json:"early,omitempty"`
	Ahead   time.Duration `json:"ahead,omitempty"`

	// Surplus are requests with half as many chunks again as the server counted tokens. They have Chunks
	// and Tokens together.
	Surplus int `json:"surplus,omitempty"`
	Chunks  int `json:"surplus_chunks,omitempty"`
	Tokens  int `json:"surplus_tokens,omitempty"`
	// Falling are requests whose usage fell from one chunk to a later one.
	Falling int `json:"falling,omitempty"`
}

// MeanAhead is by how much TTFT ended before the first output, on average over the requests that
// got output.
func (d Delivery) MeanAhead() time.Duration { return share(d.Ahead, d.Content) }

func (d Delivery) plus(other Delivery) Delivery {
	return Delivery{
		Of: d.Of + other.Of, AtOnce: d.AtOnce + other.AtOnce,
		Content: d.Content + other.Content, Early: d.Early + other.Early, Ahead: d.Ahead + other.Ahead,
		Surplus: d.Surplus + other.Surplus, Chunks: d.Chunks + other.Chunks, Tokens: d.Tokens + other.Tokens,
		Falling: d.Falling + other.Falling,
	}
}

// No server makes a token in a tenth of a millisecond, and few take less than a millisecond. Fewer
// than five tokens may share a packet.
const (
	streamTokens   = 5
	fastestToken   = 100 * time.Microsecond
	deliveredToken = time.Millisecond
)

// add counts a completed request that has chunks.
func (d *Delivery) add(r *Record) {
	if r.FirstContent > 0 {
		d.Content++
		if ahead := r.FirstContent - r.Sent - r.TTFT(); ahead > 0 {
			d.Early++
			d.Ahead += ahead
		}
	}
	if chunks := r.Chunks.Len(); !r.Uncounted && r.Out > 1 && 2*(chunks-blankChunks) >= 3*r.Out {
		d.Surplus++
		d.Chunks += chunks
		d.Tokens += r.Out
	}
	if len(r.TokensPerChunk) > 0 && slices.Min(r.TokensPerChunk) < 0 {
		d.Falling++
	}
	// If nobody counted the tokens, chunks count as tokens.
	tokens := max(r.Out, r.Chunks.Len())
	if tokens < streamTokens {
		return
	}
	d.Of++
	took := r.Chunks.Last() - max(r.Chunks.First(), r.FirstContent)
	// Tokens that the client does not get, such as hidden reasoning, have no chunks.
	steps := time.Duration(max(r.Chunks.Len()-1, 1))
	if took < steps*fastestToken && r.E2EL() >= time.Duration(tokens-1)*deliveredToken {
		d.AtOnce++
	}
}

// Counts says who counted the output tokens of completed requests.
type Counts struct {
	Of int `json:"of,omitempty"` // requests
	// Tokenizer are those that the client's tokenizer counted, because the server did not.
	Tokenizer int `json:"tokenizer,omitempty"`
	// Nobody are those that nobody counted: each counts as one token.
	Nobody int `json:"nobody,omitempty"`

	// Apart are requests of which the server counted another number of tokens, where vLLM's client does not
	// look. Ours are the tokens that count in them, and Theirs the server's.
	Apart  int `json:"apart,omitempty"`
	Ours   int `json:"ours,omitempty"`
	Theirs int `json:"theirs,omitempty"`

	// NoInput are those with a prompt of which the server counted no token, and Lost the tokens that
	// the dataset counted in them: no total has these.
	NoInput int `json:"no_input,omitempty"`
	Lost    int `json:"lost_input,omitempty"`

	// Cached are the prompt tokens of all of them that the server found in its prefix cache, by its
	// usage; 0 if it does not say.
	Cached int `json:"cached,omitempty"`
}

func (c Counts) plus(other Counts) Counts {
	return Counts{
		Of: c.Of + other.Of, Tokenizer: c.Tokenizer + other.Tokenizer, Nobody: c.Nobody + other.Nobody,
		Apart: c.Apart + other.Apart, Ours: c.Ours + other.Ours, Theirs: c.Theirs + other.Theirs,
		NoInput: c.NoInput + other.NoInput, Lost: c.Lost + other.Lost, Cached: c.Cached + other.Cached,
	}
}

// add counts a completed request. An answer to a request for one token has one token.
func (c *Counts) add(r *Record) {
	c.Of++
	c.Cached += min(r.Cached, r.In)
	if r.In == 0 && r.InAsked > 0 {
		c.NoInput++
		c.Lost += r.InAsked
	}
	if w := r.WithOutput; r.Uncounted && w != nil && promptTolerance*max(w.Out-r.Out, r.Out-w.Out) > max(w.Out, promptTolerance) {
		c.Apart++
		c.Ours += r.Out
		c.Theirs += w.Out
	}
	switch {
	case !r.Uncounted || r.OutAsked == 1:
	case r.WithOutput != nil && r.Out == r.WithOutput.Out:
		// The server's, in a place that vLLM's client ignores.
	case r.Out == 1:
		c.Nobody++
	default:
		c.Tokenizer++
	}
}

// by is c for a run with that tokenizer, which then also counts answers of one token.
func (c Counts) by(tokenizer string) Counts {
	if tokenizer != "" {
		c.Tokenizer, c.Nobody = c.Tokenizer+c.Nobody, 0
	}
	return c
}
