// Package kinds is the list of the kinds of datasets.
//
// A Kind is a row: its name, its traits, what its files look like and how it opens. Whoever asks what a dataset is
// like asks for a Trait, and no other package knows a name. A Run is what a dataset needs from the run that sends it.
package kinds

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
)

// A Trait is what some datasets have in common.
type Trait uint

// The traits of datasets.
const (
	Fileless       Trait = 1 << iota // it reads no file
	CanSendAll                       // no number of prompts means all that the file has
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
	OwnIDs                           // it sends token ids where the API takes them, without being asked
	KeepsTimes                       // its times count even if there is a rate
	Chats                            // the client can put its media into a chat
	Speaks                           // its prompts may come with a sound in a file
	BoundsTurns                      // turns of its sessions have a bound
	RandomLengths                    // the settings of random say how long its prompts and answers are
)

// An Opener opens a dataset, and returns its source and the number of its conversations.
type Opener interface {
	Open() (dataset.Source, int, error)
}

// A Kind is a kind of dataset: all that others know of it.
type Kind struct {
	Name   string // as in --dataset-name
	Traits Trait
	// Forms are what its files look like; none if Detect cannot tell.
	Forms []Form
	// Open makes the dataset of one turn; nil if its sessions have several.
	Open func(*Settings, *Run) (Opener, error)
	// Turns makes the dataset with sessions of several turns; nil if it has none.
	Turns func(*Settings, *Run) Opener
	// Flags defines its flags, which the help has under the Heading; nil without flags.
	Flags   func(Flags, *Settings)
	Heading string
	// Check says what is wrong with its settings, and with what else was asked for; nil if nothing can be.
	Check func(*Settings, *Asked) error
	// Keeps is how many bytes it keeps for each prompt to send, and KeepsTurns for each session of several turns, where
	// a file's positions are not enough.
	Keeps, KeepsTurns int64
	// Shorter says how the user gets shorter prompts; empty if no flag makes them shorter.
	Shorter string
}

// Both reports whether the user chooses between prompts and sessions of several turns.
func (k *Kind) Both() bool { return k.Open != nil && k.Turns != nil }

// Has reports whether the datasets of a kind have a trait.
func (k *Kind) Has(t Trait) bool { return k.Traits&t != 0 }

// How the user gets shorter prompts.
const (
	lowerRandom = "lower --random-input-len or --random-output-len"
	// LeaveOutLong is it for sessions of several turns.
	LeaveOutLong = "leave out long sessions (--max-model-len)"
)

// all are all kinds of datasets, in the order of vLLM's client, and then others.
var all = []*Kind{
	{Name: "random", Traits: Fileless | MakesIDs | ExactOutput | Fitted | RandomLengths,
		Heading: Workload, Flags: flagsRandom, Check: checkRandom, Open: openRandom, Turns: randomTurns,
		Shorter: lowerRandom},
	{Name: "random-mm", Traits: Fileless | ExactOutput | Rich | OwnIDs | RandomLengths,
		Heading: Media, Flags: flagsRandomMM, Check: checkRandomMM, Open: openRandomMM, Shorter: lowerRandom},
	{Name: "random-rerank", Traits: Fileless,
		Heading: Workload, Flags: flagsRerank, Check: checkRerank, Open: openRerank, Shorter: lowerRandom},
	{Name: "sharegpt", Traits: OutputFlags | Chats,
		Heading: Workload, Flags: flagsShareGPT, Check: checkShareGPT, Open: openShareGPT,
		Turns: shareGPTTurns, KeepsTurns: 24,
		Forms: []Form{{List: true, Fields: []string{"conversations:["},
			Also: "With --multi-turn all turns are sent, without it the first questions"}}},
	{Name: "custom", Traits: CanSendAll | Renders | Uncounted | OutputFlags,
		Heading: Workload, Flags: flagsCustom, Check: checkCustom, Open: openCustom,
		Forms: []Form{{Fields: []string{"prompt"}}}},
	{Name: "custom_image", Traits: CanSendAll | Rich | Chats,
		Heading: Media, Flags: flagsCustomImage, Check: checkCustomImage, Open: openCustomImage},
	{Name: "custom_audio", Traits: CanSendAll | Renders | Uncounted | Rich | Speaks,
		Check: checkCustomAudio, Open: openCustomAudio},
	{Name: "prefix_repetition", Traits: Fileless | MakesIDs | SharesPrefixes | Fitted | OutputFlags,
		Heading: Datasets, Flags: flagsPrefixes, Open: openPrefixes, Keeps: 24},
	{Name: "sonnet", Traits: SharesPrefixes | OutputFlags,
		Heading: Datasets, Flags: flagsSonnet, Check: checkMeasured, Open: openSonnet},
	{Name: "burstgpt", Traits: MakesIDs, Check: checkBurstGPT, Open: openBurstGPT, Keeps: 8,
		Forms: []Form{{Columns: []string{"Model", "Request tokens", "Response tokens"}}}},
	{Name: "spec_bench", Traits: CanSendAll | Renders | MustRender | OutputFlags,
		Heading: Datasets, Flags: flagsSpecBench, Open: openSpecBench,
		Forms: []Form{{Fields: []string{"category", "turns:["}}}},
	{Name: "speed_bench", Traits: CanSendAll | Renders,
		Heading: Datasets, Flags: flagsSpeedBench, Open: openSpeedBench},
	{Name: "timed_trace", Traits: OwnTimes | MakesIDs | ExactOutput | SharesPrefixes | OwnIDs | KeepsTimes,
		Heading: Datasets, Flags: flagsTimedTrace, Check: checkTimedTrace, Open: openTimedTrace},
	{Name: "hf", Traits: Renders | Rich | OutputFlags | Chats | Speaks,
		Heading: Hub, Flags: flagsHF, Check: checkHF, Open: openHF},
	{Name: "file", Traits: CanSendAll | SendsAll | OwnTimes | Rich | Printed | Speaks,
		Check: checkFile, Open: openFile, Forms: []Form{
			{Fields: []string{"v", "k", "run"}, Also: "It is the record stream of a run"},
			{Fields: []string{"session", "turn"}},
			{Fields: []string{"session", "output_len"}},
			{Fields: []string{"output_len", "prompt_len"}},
			{Fields: []string{"output_len", "token_ids:["}},
			{Fields: []string{"output_len", "prompt"}, Also: `custom reads such a file, too, but not its "output_len"`},
			{Fields: []string{"output_len", "messages:["}}}},
	{Name: "conversations", Traits: CanSendAll | SendsAll | SeveralTurns | BoundsTurns, Turns: conversationTurns,
		Forms: []Form{{List: true, Fields: []string{"id", "messages:["}}}},
	{Name: "multi_turn", Traits: CanSendAll | SendsAll | OwnTimes | SeveralTurns, Turns: multiTurns,
		Forms: []Form{{Fields: []string{"turns:["}}}},
	{Name: "mooncake", Traits: CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes |
		OwnIDs,
		Turns: mooncakeTurns, Forms: []Form{
			{Fields: []string{"hash_ids:[", "input_length", "session_id"}},
			{Fields: []string{"hash_ids:[", "input_length"}, Also: "timed_trace reads such a file, too, as vLLM does: " +
				"without sessions, and with prompts cut to their hash ids"},
			{Fields: []string{"input_length"}},
			{Fields: []string{"text_input"}},
			{Fields: []string{"messages:["}, Also: "speed_bench has such lines, too, but is a folder"}}},
	{Name: "weka", Traits: CanSendAll | SendsAll | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes |
		OwnIDs,
		Turns: wekaTurns, Forms: []Form{{Fields: []string{"id", "requests:["}}}},
	{Name: "azure", Traits: CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns | OwnIDs,
		Turns: azureTurns,
		Forms: []Form{{Columns: []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}}}},
	{Name: "otel", Traits: CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes |
		OwnIDs,
		Turns: otelTurns, Forms: []Form{{First: "resourceSpans"}}},
	{Name: "sessions", Traits: Fileless | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes | OwnAnswers | OwnIDs,
		Heading: Synthetic, Flags: flagsSynthetic, Check: checkSynthetic, Turns: syntheticTurns, Shorter: LeaveOutLong},
}

// Find is the kind of that name; nil if there is none.
func Find(name string) *Kind {
	i := slices.IndexFunc(all, func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Names are the names of the kinds that have all of these traits.
func Names(traits Trait) (names []string) {
	for _, k := range all {
		if k.Traits&traits == traits {
			names = append(names, k.Name)
		}
	}
	return names
}

// InWords are the names of several kinds that have all of these traits: a, b and c.
func InWords(traits Trait) string {
	names := Names(traits)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
