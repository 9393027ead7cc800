package sim

import "slices"

// A batch counts what one step works on.
type batch struct {
	decoding int     // requests that give a token
	prompt   int     // prompt tokens prefilled
	attended float64 // tokens that prompt tokens look back on, summed up
	context  int     // tokens that decoding requests look back on, summed up
	far      bool    // one of these has a long prompt
}

// decode adds a decoding request.
func (b *batch) decode(seq *sequence) {
	b.decoding++
	b.context += seq.prompt + seq.out
	b.far = b.far || seq.prompt > farPrompt
}

// prefill adds the chunk of a prompt.
func (b *batch) prefill(seq *sequence) {
	b.prompt += seq.chunk
	chunk, done := float64(seq.chunk), float64(seq.prompt-seq.unfilled)
	b.attended += chunk * (done + chunk/2)
}

// A scheduler holds the requests that are running and waiting, and puts steps
// together from them, as vLLM's does: first every running request whose prompt
// is done decodes, then unfinished prompts and after them waiting requests, in
// order of arrival, are prefilled in chunks as large as the budget allows. With
// prefillFirst, as vLLM's did once, prompts come first and have steps of their own.
type scheduler struct {
	running []*sequence // in order of admission
	waiting []*sequence // in order of arrival
	seqs    int         // running at most
	budget  int         // tokens in a step
	decode  int         // tokens that one decoding request takes of the budget

	prefillFirst bool // a step with prompt tokens has nothing else

	prefixes *prefixCache // nil without prefix caching
}

// compose marks in the running sequences what the next step does with each, and
// returns those of them that it took from the waiting ones.
func (s *scheduler) compose() (b batch, admitted []*sequence) {
	for _, seq := range s.running {
		seq.chunk, seq.decoding = 0, false
	}
	if s.prefillFirst {
		if admitted = s.prefill(&b, s.budget); b.prompt > 0 {
			return b, admitted
		}
	}
	left := s.budget
	for _, seq := range s.running {
		if seq.unfilled == 0 {
			seq.decoding = true
			b.decode(seq)
			left -= s.decode
		}
	}
	if !s.prefillFirst {
		admitted = s.prefill(&b, left)
	}
	return b, admitted
}

// prefill adds prompts to a step with that many tokens left, first the
// unfinished ones, then those that it takes from the waiting ones and returns.
func (s *scheduler) prefill(b *batch, left int) (admitted []*sequence) {
	add := func(seq *sequence) {
		seq.chunk = min(left, seq.unfilled)
		left -= seq.chunk
		b.prefill(seq)
	}
	for _, seq := range s.running {
		if seq.unfilled > 0 {
			add(seq)
		}
	}
	n := 0
	for n < len(s.waiting) && len(s.running) < s.seqs && left > 0 {
		s.spare(s.waiting[n])
		add(s.waiting[n])
		s.running = append(s.running, s.waiting[n])
		n++
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
	return s.running[len(s.running)-n:]
}

// spare takes off a prompt that is about to be prefilled what the cache holds of it.
func (s *scheduler) spare(seq *sequence) {
	if s.prefixes != nil {
		seq.unfilled -= s.prefixes.lookUp(seq.blocks, seq.prompt)
	}
}

// drop removes sequences, wherever they are, and returns how many of them were
// waiting.
func (s *scheduler) drop(gone []*sequence) (waited int) {
	set := make(map[*sequence]bool, len(gone))
	for _, seq := range gone {
		set[seq] = true
	}
	isGone := func(seq *sequence) bool { return set[seq] }
	s.running = slices.DeleteFunc(s.running, isGone)
	before := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, isGone)
	return before - len(s.waiting)
}

func (s *scheduler) empty() bool { return len(s.running) == 0 && len(s.waiting) == 0 }
