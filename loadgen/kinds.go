package loadgen

import (
	"github.com/servebench/servebench/dataset/kinds"
)

// kind is the kind of the workload's dataset; one without a name for a Source of the caller's.
func (w *Workload) kind() *kinds.Kind {
	if k := kinds.Find(w.Dataset); k != nil {
		return k
	}
	return new(kinds.Kind)
}

// Has reports whether the workload's dataset has a trait.
func (w *Workload) Has(t kinds.Trait) bool {
	if t == kinds.MakesIDs && w.textual() {
		return false
	}
	return w.kind().Has(t)
}

// textual reports whether a dataset that otherwise makes token ids makes texts: its prompts go on
// from the server's answers, or several are one request.
func (w *Workload) textual() bool {
	return w.Settings.MultiTurn.On || w.Settings.BatchSize > 1 || w.Has(kinds.OwnAnswers) && w.Live()
}

// canSkipTemplate reports whether prompts may be sent without the chat template that they are put into.
func (w *Workload) canSkipTemplate() bool { return w.Has(kinds.Renders) && !w.Has(kinds.MustRender) }

// shorter says how the user gets shorter prompts; empty if no flag makes them shorter.
func (w *Workload) shorter() string {
	if k := w.kind(); !w.Settings.MultiTurn.On || k.Turns == nil {
		return k.Shorter
	}
	return kinds.LeaveOutLong
}

// kept is how many bytes the dataset keeps for each prompt to send: a position in the file, or what it
// drew. Random tokens are made as they are sent, and keep nothing.
func (w *Workload) kept() int64 {
	switch k := w.kind(); {
	case w.Source != nil:
		return 0
	case w.Settings.MultiTurn.On && !w.NoOversample && k.KeepsTurns > 0:
		return k.KeepsTurns
	case k.Keeps > 0:
		return k.Keeps
	case w.NoOversample || w.Has(kinds.MakesIDs) || w.Has(kinds.Fileless):
		return 0
	}
	const position = 8
	return position
}
