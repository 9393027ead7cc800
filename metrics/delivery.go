package metrics

import "time"

// A Delivery says how the answers of completed requests came: whether as a stream,
// and with what ahead of the first output.
type Delivery struct {
	Of     int `json:"of,omitempty"`      // requests with tokens enough to tell a stream by
	AtOnce int `json:"at_once,omitempty"` // of them, those whose output came all at once, long after they were sent

	Content int           `json:"content,omitempty"` // requests that got output
	Early   int           `json:"early,omitempty"`   // of them, those to which TTFT is shorter than to the first output
	Ahead   time.Duration `json:"ahead,omitempty"`   // by that much, together
}

func (d Delivery) plus(other Delivery) Delivery {
	return Delivery{
		Of: d.Of + other.Of, AtOnce: d.AtOnce + other.AtOnce,
		Content: d.Content + other.Content, Early: d.Early + other.Early, Ahead: d.Ahead + other.Ahead,
	}
}

// No server makes a token in a tenth of a millisecond, and few take less than a
// millisecond. Fewer tokens than five may share a packet.
const (
	streamTokens   = 5
	fastestToken   = 100 * time.Microsecond
	deliveredToken = time.Millisecond
)

// add takes a completed request into account that has chunks.
func (d *Delivery) add(r *Record) {
	if r.FirstContent > 0 {
		d.Content++
		if ahead := r.FirstContent - r.Sent - r.TTFT(); ahead > 0 {
			d.Early++
			d.Ahead += ahead
		}
	}
	// Where nobody counted the tokens, chunks stand for them.
	tokens := max(r.Out, r.Chunks.Len())
	if tokens < streamTokens {
		return
	}
	d.Of++
	took := r.Chunks.Last() - max(r.Chunks.First(), r.FirstContent)
	// Of tokens that nobody is shown, as a hidden reasoning's, there are no chunks.
	steps := time.Duration(max(r.Chunks.Len()-1, 1))
	if took < steps*fastestToken && r.E2EL() >= time.Duration(tokens-1)*deliveredToken {
		d.AtOnce++
	}
}

// Counts say whose counts the output tokens of completed requests are.
type Counts struct {
	Of        int `json:"of,omitempty"`        // requests
	Tokenizer int `json:"tokenizer,omitempty"` // that the client's own tokenizer counted, since the server gave no count
	Nobody    int `json:"nobody,omitempty"`    // that nobody counted: each stands for one token

	Cached int `json:"cached,omitempty"` // prompt tokens of all of them that the server had in its prefix cache, as its usage says; 0 where it does not
}

func (c Counts) plus(other Counts) Counts {
	return Counts{c.Of + other.Of, c.Tokenizer + other.Tokenizer, c.Nobody + other.Nobody, c.Cached + other.Cached}
}

// add takes a completed request into account. A request for one token has one.
func (c *Counts) add(r *Record) {
	c.Of++
	c.Cached += min(r.Cached, r.In)
	switch {
	case !r.Uncounted || r.OutAsked == 1:
	case r.Beside != nil && r.Out == r.Beside.Out: // the server's, where vLLM's client does not look
	case r.Out == 1:
		c.Nobody++
	default:
		c.Tokenizer++
	}
}

// by is c for a run with that tokenizer: an answer of one token is then counted, too.
func (c Counts) by(tokenizer string) Counts {
	if tokenizer != "" {
		c.Tokenizer, c.Nobody = c.Tokenizer+c.Nobody, 0
	}
	return c
}
