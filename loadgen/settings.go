package loadgen

import "github.com/servebench/servebench/loadgen/settings"

// The settings of a Plan.
type (
	Server    = settings.Server
	Workload  = settings.Workload
	Traffic   = settings.Traffic
	Sampling  = settings.Sampling
	Limits    = settings.Limits
	Watch     = settings.Watch
	Report    = settings.Report
	Shard     = settings.Shard
	AbortRule = settings.AbortRule
)

// Where the answers in later prompts come from, and what prefix caches cannot know.
const (
	Live        = settings.Live
	Recorded    = settings.Recorded
	Stored      = settings.Stored
	BustRun     = settings.BustRun
	BustSession = settings.BustSession
)

// What a Watch names.
const (
	TargetMark = settings.TargetMark
	NvidiaSMI  = settings.NvidiaSMI
)
