package settings

import (
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/lora"
)

// Workload says what is sent.
type Workload struct {
	// Dataset is a name as in --dataset-name; empty means random.
	Dataset string

	// Source, if set, provides up to NumPrompts conversations instead of a dataset. Dataset may
	// name it. Without a Server.Tokenizer, the server counts tokens. A run whose Source ends early
	// is incomplete.
	Source dataset.Source

	// Path is the dataset's file.
	Path string

	Seed int64

	// NumPrompts is the number of prompts, and of sessions if they have several turns. 0 means all of
	// a dataset that kinds.CanSendAll, and 1000 of any other.
	NumPrompts int

	// DisableShuffle keeps the order of the dataset's file.
	DisableShuffle bool

	// NoOversample sends fewer prompts if the dataset has fewer than NumPrompts, instead of
	// repeating some.
	NoOversample bool

	// RequestIDPrefix begins the ids of requests; empty for bench-<8 random hex digits>-.
	RequestIDPrefix string

	// Random are the settings of random, random-mm and random-rerank, and Settings of other datasets. Their
	// Options are ignored: the Workload's count. So is Settings.Random.
	Random   dataset.Random
	Settings kinds.Settings

	// MultimodalChat has datasets with media make the user's message themselves.
	MultimodalChat bool

	Sessions Sessions

	// Adapters are the LoRA adapters that requests ask for in place of the model.
	Adapters lora.Choice

	// SkipTemplate sends prompts without the chat template.
	SkipTemplate   bool
	TemplateKwargs *jinja.Kwargs

	// SelfTimed says that the dataset says when requests are due.
	SelfTimed bool

	// TokenIDs sends token ids instead of text. It needs no tokenizer.
	TokenIDs bool

	// VocabSize bounds the ids when there is no tokenizer; 0 means 32000.
	VocabSize int

	// VocabGiven says that VocabSize is the size of the model's vocabulary, not a guess.
	VocabGiven bool
}

// Kind is the kind of the workload's dataset; one without a name for a Source of the caller's.
func (w *Workload) Kind() *kinds.Kind {
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
	return w.Kind().Has(t)
}

// textual reports whether a dataset that otherwise makes token ids makes texts: its prompts go on
// from the server's answers, or several are one request.
func (w *Workload) textual() bool {
	return w.Settings.MultiTurn.On || w.Settings.BatchSize > 1 || w.Has(kinds.OwnAnswers) && w.Live()
}

// CanSkipTemplate reports whether prompts may be sent without the chat template that they are put into.
func (w *Workload) CanSkipTemplate() bool { return w.Has(kinds.Renders) && !w.Has(kinds.MustRender) }

// Shorter says how the user gets shorter prompts; empty if no flag makes them shorter.
func (w *Workload) Shorter() string {
	if k := w.Kind(); !w.Settings.MultiTurn.On || k.Turns == nil {
		return k.Shorter
	}
	return kinds.LeaveOutLong
}

// Kept is how many bytes the dataset keeps for each prompt to send: a position in the file, or what it
// drew. Random tokens are made as they are sent, and keep nothing.
func (w *Workload) Kept() int64 {
	switch k := w.Kind(); {
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

// Seeds is the number of seeds: 0 comes after the last.
const Seeds = 1 << 32
