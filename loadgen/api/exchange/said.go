package exchange

import "github.com/servebench/servebench/metrics/record"

// maxChoices bounds the choices of a request whose tokens are counted separately.
const maxChoices = 1024

// said is what a server says of the tokens of one answer.
type said struct {
	usage     Usage        // as vLLM's client reads it
	older     Usage        // as releases up to 0.32.0 read it
	beside    record.Count // from usage that came with output, which vLLM's client ignores
	perChoice []int        // their output tokens, by choice
	uncounted bool         // a chunk with output had no usage
}

// add takes the usage of an event. vLLM's client reads the usage of events that are not output; up to 0.32.0, of
// those without choices. The last one counts, even if it is 0. Usage that comes with output counts one choice, so
// several choices are added up.
func (s *said) add(p *Piece, tokens *record.Tokens) {
	u := p.Usage
	if !u.Given {
		return
	}
	if u.HasCached && (u.Cached > 0 || tokens.Cached == 0) {
		tokens.Cached, tokens.Uncached = u.Cached, u.Cached == 0
	}
	if u.Reasoned > 0 {
		tokens.OutReasoned = u.Reasoned
	}
	if !p.Chunk {
		s.older.take(u)
	}
	if !p.Output || p.Last {
		s.usage.take(u)
		return
	}
	if u.In > 0 {
		s.beside.In = u.In
	}
	if i := p.Index; u.Out > 0 && 0 <= i && i < maxChoices {
		for len(s.perChoice) <= i {
			s.perChoice = append(s.perChoice, 0)
		}
		s.perChoice[i] = u.Out
	}
}

// into completes the counts of the whole answer. Before it, their In is what was asked for, and it stays so with
// onlyOuts.
func (s *said) into(tokens *record.Tokens, onlyOuts bool) {
	older := record.Count{In: tokens.In}
	if onlyOuts {
		s.usage.HasIn, s.older.HasIn, s.beside.In = false, false, tokens.In
	}
	s.usage.into(&tokens.In, &tokens.Out)
	s.older.into(&older.In, &older.Out)
	if older != (record.Count{In: tokens.In, Out: tokens.Out}) {
		tokens.Until032 = &older
	}
	for _, n := range s.perChoice {
		s.beside.Out += n
	}
	if tokens.Out == 0 && s.beside.Out > 0 {
		beside := s.beside
		tokens.WithOutput = &beside
	}
}
