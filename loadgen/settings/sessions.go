package settings

import (
	"time"

	"github.com/servebench/servebench/dataset/kinds"
)

// Sessions says which sessions a Workload has, and how they are changed before they are sent. The
// zero value sends a dataset as it is.
type Sessions struct {
	// SlotsFlag is the flag that set Traffic.MaxSessions, for remedies; empty is --max-sessions.
	SlotsFlag string

	// Answers are the earlier answers that a prompt has, if its history is not part of the dataset;
	// empty means Live, but Recorded for synthetic sessions.
	Answers Answers

	// Reasoning keeps the reasoning of live answers in later prompts; templates drop it.
	Reasoning bool

	// Bust keeps prompts out of prefix caches; empty means nothing does.
	Bust CacheBust

	// Speed divides all times and gaps of the dataset; 0 means 1. From and To cut it by its times,
	// before Speed does: sessions start from From on and before To, and From is the new zero. 0 cuts
	// nothing. GapCap bounds each gap, before Speed divides it; 0 bounds nothing.
	Speed    float64
	From, To time.Duration
	GapCap   time.Duration
}

// Answers says where the earlier answers in a prompt come from.
type Answers string

const (
	Live     Answers = "live"     // the server: prompts then depend on it
	Recorded Answers = "recorded" // the dataset
	Stored   Answers = "server"   // the server, which keeps them: prompts are only what a turn adds
)

// A CacheBust says which prompts a server's prefix cache cannot know from others.
type CacheBust string

const (
	BustRun     CacheBust = "run"     // from runs with another seed
	BustSession CacheBust = "session" // from other sessions, too
)

// Live reports whether prompts have the server's answers.
func (w *Workload) Live() bool {
	return w.Sessions.Answers == Live || w.Sessions.Answers == Stored || w.Sessions.Answers == "" &&
		!w.Has(kinds.OwnAnswers)
}

// Noun is what the workload's dataset consists of.
func (w *Workload) Noun() string {
	if w.Settings.MultiTurn.On || w.Has(kinds.SeveralTurns) {
		return "session"
	}
	return "prompt"
}
