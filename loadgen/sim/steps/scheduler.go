package steps

import (
	"slices"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A scheduler holds the running and the waiting requests, and composes steps as vLLM's does. First,
// every running request whose prompt is done decodes. Then unfinished prompts, and after them
// waiting requests in order of arrival, are prefilled in chunks as large as the budget allows. With
// prefillFirst, as in old releases of vLLM, prompts come first and have separate steps.
//
// If the KV cache has no block for a sequence, the sequence takes the blocks of the one admitted
// last. That one starts again, with its prompt and its output so far, before all that wait. Such a
// step admits nothing.
type scheduler struct {
	running []*Sequence // in order of admission
	waiting []*Sequence // in order of arrival
	seqs    int         // running at most
	budget  int         // tokens in a step
	decode  int         // tokens of the budget that one decoding request takes

	prefillFirst bool // a step with prompt tokens has nothing else

	kv        *kvcache.Cache
	preempted int // sequences that lost their blocks in the last step
}

// compose marks in the running sequences what the next step does with each, and returns those that
// it took from the waiting ones.
func (s *scheduler) compose() (b speed.Batch, admitted []*Sequence) {
	s.preempted = 0
	for _, seq := range s.running {
		seq.chunk, seq.decoding = 0, false
	}
	if s.prefillFirst {
		if admitted = s.prefill(&b, s.budget); b.Prompt > 0 {
			return b, admitted
		}
	}
	left := s.budget
	for i := 0; i < len(s.running); i++ { // preemption may shorten it
		if seq := s.running[i]; seq.unfilled == 0 && s.room(seq, seq.filled()+s.decode-1) {
			seq.decoding = true
			b.Decode(seq.Prompt, seq.out)
			left -= s.decode
		}
	}
	if !s.prefillFirst {
		admitted = s.prefill(&b, left)
	}
	return b, admitted
}

// prefill adds prompts to a step with that many tokens left: first the unfinished ones, then
// waiting ones, which it returns.
func (s *scheduler) prefill(b *speed.Batch, left int) (admitted []*Sequence) {
	add := func(seq *Sequence) {
		seq.chunk = min(left, seq.unfilled)
		left -= seq.chunk
		b.Prefill(seq.chunk, seq.filled())
	}
	for i := 0; i < len(s.running); i++ {
		if seq := s.running[i]; seq.unfilled > 0 && s.room(seq, seq.filled()+min(left, seq.unfilled)) {
			add(seq)
		}
	}
	n := 0
	for n < len(s.waiting) && len(s.running) < s.seqs && left > 0 && s.preempted == 0 && s.admit(s.waiting[n], left) {
		add(s.waiting[n])
		s.running = append(s.running, s.waiting[n])
		n++
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
	return s.running[len(s.running)-n:]
}

// admit gives a waiting sequence the blocks for a chunk of at most that many tokens, and takes the known
// tokens from what it has to prefill. It reports whether there was room.
func (s *scheduler) admit(seq *Sequence, chunk int) bool {
	found, room := s.kv.Admit(&seq.kv, seq.unfilled, chunk)
	if !room {
		return false
	}
	seq.unfilled -= found
	if seq.at.admitted.IsZero() {
		seq.found = found
		s.kv.Count(seq.Prompt, found)
	}
	return true
}

// room gets a running sequence the blocks for that many tokens, if needed from those admitted last,
// and reports whether the sequence is still running.
func (s *scheduler) room(seq *Sequence, tokens int) bool {
	for !s.kv.Grow(&seq.kv, tokens) {
		last := len(s.running) - 1
		victim := s.running[last]
		s.running = s.running[:last]
		s.kv.Free(&victim.kv)
		victim.restart()
		s.waiting = slices.Insert(s.waiting, 0, victim)
		s.preempted++
		if victim == seq {
			return false
		}
	}
	return true
}

// drop removes sequences, and returns how many of them were waiting.
func (s *scheduler) drop(gone []*Sequence) (waited int) {
	set := make(map[*Sequence]bool, len(gone))
	for _, seq := range gone {
		set[seq] = true
	}
	isGone := func(seq *Sequence) bool {
		if set[seq] {
			s.kv.Free(&seq.kv)
		}
		return set[seq]
	}
	s.running = slices.DeleteFunc(s.running, isGone)
	before := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, isGone)
	return before - len(s.waiting)
}

func (s *scheduler) empty() bool { return len(s.running) == 0 && len(s.waiting) == 0 }
