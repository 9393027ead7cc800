package kinds

import (
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/multimodal"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/sessions"
)

// Settings are the settings of single datasets. Their Options are ignored: the Run's count.
type Settings struct {
	Random           dataset.Random
	RangeRatio       string // as the flag has it; Random.Ratio counts
	Custom           dataset.Custom
	PrefixRepetition dataset.PrefixRepetition
	Sonnet           dataset.Sonnet
	SpecBench        dataset.SpecBench
	SpeedBench       dataset.SpeedBench
	TimedTrace       dataset.TimedTrace
	CustomImage      multimodal.CustomImage
	CustomAudio      multimodal.CustomAudio
	RandomMM         multimodal.RandomMM // whose Random does not count, either
	HF               hf.HF

	// ShareGPTLen is the number of tokens of each answer of sharegpt; nil for the length of the
	// recorded answer.
	ShareGPTLen *int

	// BatchSize is how many prompts of random, or documents of random-rerank, a request has; 0 means 1.
	BatchSize int

	// NoReranker makes the requests of random-rerank for a model of embeddings: the query is one of the
	// BatchSize.
	NoReranker bool

	// MultiTurn makes random and sharegpt send conversations of several turns.
	MultiTurn MultiTurn

	// Synthetic are the sessions of the dataset sessions.
	Synthetic sessions.Synthetic

	// BlockSize is how many tokens a hash id of a trace stands for; 0 means what the format says.
	BlockSize int
}

// MultiTurn says what conversations of several turns are like.
type MultiTurn struct {
	On bool // random and sharegpt have them

	// Min and Max bound the turns of random, sharegpt and conversations; 0 means no bound. random
	// needs both.
	Min, Max int

	// Delay is the gap before each later turn of random and sharegpt.
	Delay time.Duration

	// MaxModelLen ends a session of random, sharegpt and synthetic ones before the turn that exceeds
	// so many tokens with its answer; 0 means never.
	MaxModelLen int

	// Random are more settings of random's conversations. Fields that Settings.Random has, too, are ignored.
	Random sessions.Random
}

// A Run is what a dataset needs from the run that sends it.
type Run struct {
	Options dataset.Options

	// How the API of the run takes prompts.
	Backend string // its name
	Text    bool   // as messages and text, and never as token ids
	IDs     bool   // as token ids where that is wanted
	Files   bool   // as a form with a file
	Mute    bool   // without images, videos and sounds
	Chat    bool   // as a chat

	// How the run sends them.
	MultimodalChat bool // the client makes the user's message with its media
	SkipTemplate   bool // without the model's chat template
	SelfTimed      bool // when the dataset says
	IgnoreEOS      bool
	Live           bool // prompts have the server's answers
	NumPyArrivals  bool // arrivals go on from numpy's generator after random's draws

	TokenizerName string
	// Template is the tokenizer's chat template; nil without a tokenizer.
	Template func() (dataset.Template, error)
	// OpenTemplate opens it for conversations.
	OpenTemplate func() (*jinja.Template, error)
}

// useNumPy has the dataset leave the state of numpy's generator for the arrivals, in Options.NumPy.
func (r *Run) useNumPy() { r.Options.NumPy = new(nprand.RandomState) }

// ids are the Options of a dataset whose prompts stay token ids, if they are to be sent so.
func (r *Run) ids() dataset.Options {
	o := r.Options
	if r.IDs && o.Tokenizer != nil {
		o.Tokenizer, o.VocabSize = nil, o.Tokenizer.VocabSize()
	}
	return o
}

// rendered are the Options of a dataset whose prompts the chat template renders. canSkip says that the run may skip it.
func (r *Run) rendered(canSkip bool) (o dataset.Options, err error) {
	o = r.Options
	if !canSkip || !r.SkipTemplate {
		o.Template, err = r.Template()
	}
	return o, err
}
