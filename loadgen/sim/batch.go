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
	chunk, done := float64(seq.chunk), float64(seq.filled())
	b.attended += chunk * (done + chunk/2)
}

// A scheduler holds the requests that are running and waiting, and puts steps
// together from them, as vLLM's does: first every running request whose prompt
// is done decodes, then unfinished prompts and after them waiting requests, in
// order of arrival, are prefilled in chunks as large as the budget allows. With
// prefillFirst, as vLLM's did once, prompts come first and have steps of their own.
//
// A sequence for which the KV cache has no block takes those of the one admitted
// last, which begins again with its prompt and the output it had, before all that
// wait. Nothing is admitted in such a step.
type scheduler struct {
	running []*sequence // in order of admission
	waiting []*sequence // in order of arrival
	seqs    int         // running at most
	budget  int         // tokens in a step
	decode  int         // tokens that one decoding request takes of the budget

	prefillFirst bool // a step with prompt tokens has nothing else

	kv        *kvCache
	preempted int // sequences that the last step took their blocks from
}

// compose marks in the running sequences what the next step does with each, and
// returns those of them that it took from the waiting ones.
func (s *scheduler) compose() (b batch, admitted []*sequence) {
	s.preempted = 0
	for _, seq := range s.running {
		seq.chunk, seq.decoding = 0, false
	}
	if s.prefillFirst {
		if admitted = s.prefill(&b, s.budget); b.prompt > 0 {
			return b, admitted
		}
	}
	left := s.budget
	for i := 0; i < len(s.running); i++ { // as preemption may shorten it
		if seq := s.running[i]; seq.unfilled == 0 && s.room(seq, seq.filled()+s.decode-1) {
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
	for i := 0; i < len(s.running); i++ {
		if seq := s.running[i]; seq.unfilled > 0 && s.room(seq, seq.filled()+min(left, seq.unfilled)) {
			add(seq)
		}
	}
	n := 0
	for n < len(s.waiting) && len(s.running) < s.seqs && left > 0 && s.preempted == 0 && s.kv.admit(s.waiting[n], left) {
		add(s.waiting[n])
		s.running = append(s.running, s.waiting[n])
		n++
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
	return s.running[len(s.running)-n:]
}

// room gets a running sequence the blocks for that many tokens, at the cost of
// those admitted last, and reports whether it is still running itself.
func (s *scheduler) room(seq *sequence, tokens int) bool {
	for !s.kv.grow(seq, tokens) {
		last := len(s.running) - 1
		victim := s.running[last]
		s.running = s.running[:last]
		s.kv.free(victim)
		victim.restart()
		s.waiting = slices.Insert(s.waiting, 0, victim)
		s.preempted++
		if victim == seq {
			return false
		}
	}
	return true
}

// drop removes sequences, wherever they are, and returns how many of them were
// waiting.
func (s *scheduler) drop(gone []*sequence) (waited int) {
	set := make(map[*sequence]bool, len(gone))
	for _, seq := range gone {
		set[seq] = true
	}
	isGone := func(seq *sequence) bool {
		if set[seq] {
			s.kv.free(seq)
		}
		return set[seq]
	}
	s.running = slices.DeleteFunc(s.running, isGone)
	before := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, isGone)
	return before - len(s.waiting)
}

func (s *scheduler) empty() bool { return len(s.running) == 0 && len(s.waiting) == 0 }
