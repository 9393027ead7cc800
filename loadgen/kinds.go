package loadgen

import (
	"github.com/servebench/servebench/dataset"
)

// A Trait is what some datasets have in common.
type Trait uint

// The traits of datasets.
const (
	Fileless       Trait = 1 << iota // it reads no file
	CanSendAll                       // NumPrompts = 0 means all that the file has
	SendsAll                         // so it does by default
	OwnTimes                         // it may say when its sessions are due
	MakesIDs                         // it makes token ids instead of texts, and so needs no tokenizer
	ExactOutput                      // a trace or a draw gives its output lengths: answers have all their tokens
	SeveralTurns                     // its sessions may have several turns, or its prompts blocks
	OwnAnswers                       // its sessions bring answers, which prompts repeat unless the server's are wanted
	Renders                          // it puts prompts into the model's chat template, if it is not told to skip it
	MustRender                       // it cannot skip the template
	SharesPrefixes                   // its prompts share a beginning, or repeat
	Uncounted                        // without a tokenizer each prompt counts as one token
	Fitted                           // its prompts are cut to length by the server's tokenizer, if no other is there
	Rich                             // its prompts may be more than text: messages, tools or media
	Printed                          // servebench has printed it: it has all lengths, and its sessions
	OutputFlags                      // a flag sets its output lengths
)

// A kind is a kind of dataset: all that a run knows of it. The list of kinds is the only one.
type kind struct {
	name   string
	traits Trait
	// open makes the dataset of one turn; nil if its sessions have several.
	open func(w *workload, p *Plan, o dataset.Options) (opener, error)
	// turns makes the dataset with sessions of several turns; nil if it has none.
	turns func(w *Workload, text bool, o dataset.Options) opener
	// keeps is how many bytes it keeps for each prompt to send, and turnsKeep for each session of several turns, where
	// a file's positions are not enough.
	keeps, turnsKeep int64
	// shorter says how the user gets shorter prompts; empty if no flag makes them shorter.
	shorter string
}

// kinds are all kinds of datasets, in the order of vLLM's client, and then others.
func kinds() []*kind {
	return []*kind{
		{name: "random", traits: Fileless | MakesIDs | ExactOutput | Fitted, open: openRandom, turns: randomTurns,
			shorter: lowerRandom},
		{name: "random-mm", traits: Fileless | ExactOutput | Rich, open: openRandomMM, shorter: lowerRandom},
		{name: "random-rerank", traits: Fileless, open: openRerank, shorter: lowerRandom},
		{name: "sharegpt", traits: OutputFlags, open: openShareGPT, turns: shareGPTTurns, turnsKeep: 24},
		{name: "custom", traits: CanSendAll | Renders | Uncounted | OutputFlags, open: openCustom},
		{name: "custom_image", traits: CanSendAll | Rich, open: openCustomImage},
		{name: "custom_audio", traits: CanSendAll | Renders | Uncounted | Rich, open: openCustomAudio},
		{name: "prefix_repetition", traits: Fileless | MakesIDs | SharesPrefixes | Fitted | OutputFlags, open: openPrefixes,
			keeps: 24},
		{name: "sonnet", traits: SharesPrefixes | OutputFlags, open: openSonnet},
		{name: "burstgpt", traits: MakesIDs, open: openBurstGPT, keeps: 8},
		{name: "spec_bench", traits: CanSendAll | Renders | MustRender | OutputFlags, open: openSpecBench},
		{name: "speed_bench", traits: CanSendAll | Renders, open: openSpeedBench},
		{name: "timed_trace", traits: OwnTimes | MakesIDs | ExactOutput | SharesPrefixes, open: openTimedTrace},
		{name: "hf", traits: Renders | Rich | OutputFlags, open: openHF},
		{name: "file", traits: CanSendAll | SendsAll | OwnTimes | Rich | Printed, open: openFile},
		{name: "conversations", traits: CanSendAll | SendsAll | SeveralTurns, turns: conversationTurns},
		{name: "multi_turn", traits: CanSendAll | SendsAll | OwnTimes | SeveralTurns, turns: multiTurns},
		{name: "mooncake", traits: CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes,
			turns: mooncakeTurns},
		{name: "weka", traits: CanSendAll | SendsAll | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes,
			turns: wekaTurns},
		{name: "azure", traits: CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns, turns: azureTurns},
		{name: "otel", traits: CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes,
			turns: otelTurns},
		{name: "sessions", traits: Fileless | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes | OwnAnswers,
			turns: syntheticTurns, shorter: leaveOutLong},
	}
}

// How the user gets shorter prompts.
const (
	lowerRandom  = "lower --random-input-len or --random-output-len"
	leaveOutLong = "leave out long sessions (--max-model-len)"
)

// Datasets are the names that Workload.Dataset accepts.
func Datasets() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// kind is the kind of the workload's dataset; one without a name for a Source of the caller's.
func (w *Workload) kind() *kind {
	for _, k := range kinds() {
		if k.name == w.Dataset {
			return k
		}
	}
	return new(kind)
}

// Has reports whether the workload's dataset has a trait.
func (w *Workload) Has(t Trait) bool {
	if t == MakesIDs && w.textual() {
		return false
	}
	return w.kind().traits&t != 0
}

// textual reports whether a dataset that otherwise makes token ids makes texts: its prompts go on
// from the server's answers, or several are one request.
func (w *Workload) textual() bool {
	return w.Sessions.MultiTurn || w.BatchSize > 1 || w.Has(OwnAnswers) && w.Live()
}

// canSkipTemplate reports whether prompts may be sent without the chat template that they are put into.
func (w *Workload) canSkipTemplate() bool { return w.Has(Renders) && !w.Has(MustRender) }

// shorter says how the user gets shorter prompts; empty if no flag makes them shorter.
func (w *Workload) shorter() string {
	if k := w.kind(); !w.Sessions.MultiTurn || k.turns == nil {
		return k.shorter
	}
	return leaveOutLong
}

// kept is how many bytes the dataset keeps for each prompt to send: a position in the file, or what it
// drew. Random tokens are made as they are sent, and keep nothing.
func (w *Workload) kept() int64 {
	switch k := w.kind(); {
	case w.Source != nil:
		return 0
	case w.Sessions.MultiTurn && !w.NoOversample && k.turnsKeep > 0:
		return k.turnsKeep
	case k.keeps > 0:
		return k.keeps
	case w.NoOversample || w.Has(MakesIDs) || w.Has(Fileless):
		return 0
	}
	const position = 8
	return position
}
