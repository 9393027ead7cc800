package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// sessionFlags say which sessions are sent, and how.
type sessionFlags struct {
	*options
	permits *int   // of --multi-turn-concurrency
	timing  string // of later turns
}

func (g *sessionFlags) define(f *argv.Flags) {
	s, t := &g.Workload.Sessions, &g.Traffic
	f.Var(argv.Optional(&t.MaxSessions, argv.ParseInt), "max-sessions", "`N` most sessions begun and not ended, also during their gaps (default no limit). Without a rate, N are kept going")
	f.Var(argv.Optional(&g.permits, argv.ParseInt), "multi-turn-concurrency", "`N` the same as --max-sessions. The Rust client of vLLM bounds requests by it, as --max-concurrency does")
	f.StringVar((*string)(&s.Answers), "session-answers", "", "`NAME` whose answers later prompts have: live (the server's) or recorded (the dataset's). The default is live, but recorded for sessions. Prompts of lengths and hash ids have none")
	f.StringVar((*string)(&s.Bust), "cache-bust", "", "`NAME` keep prompts out of prefix caches (default none). run makes them differ from runs with another --seed, session makes each session differ from all others, too")
	f.StringVar(&g.Server.SessionHeader, "session-header", "", "`NAME` header with the session's id, for routers (default X-Session-ID)")
	f.StringVar(&g.timing, "trace-timing", "", "`NAME` when a later turn is due: think waits for its gap, absolute for its time in the dataset (default think)")
	f.Var(argv.Parsed(&s.Speed, "", argv.ParseFloat), "trace-speed", "`X` divide the times and gaps of a dataset by X (default 1)")
	f.Var(argv.Parsed(&s.From, "", argv.ParseSeconds), "trace-from", "`TIME` start at this time of the dataset, in seconds or as 10m. Sessions that start earlier are left out")
	f.Var(argv.Parsed(&s.To, "", argv.ParseSeconds), "trace-to", "`TIME` leave out sessions that start at this time of the dataset or later (default no limit)")
	f.Var(argv.Parsed(&s.GapCap, "", argv.ParseSeconds), "trace-gap-cap", "`TIME` shorten longer gaps to this time, before --trace-speed (default no limit)")
	f.Var(argv.Parsed(&s.BlockSize, "", argv.ParseInt), "trace-block-size", "`TOKENS` tokens that each hash id of a trace stands for (default 512 for mooncake, and for weka what its file says)")
	f.Choices("session-answers", string(loadgen.Live), string(loadgen.Recorded))
	f.Choices("cache-bust", "none", string(loadgen.BustRun), string(loadgen.BustSession))
	f.Choices("trace-timing", "think", "absolute")
}

func (g *sessionFlags) resolve(f *argv.Flags) error {
	s, t := &g.Workload.Sessions, &g.Traffic
	t.Absolute = g.timing == "absolute"
	if s.Bust == "none" {
		s.Bust = ""
	}
	switch {
	case t.MaxSessions != nil && g.permits != nil:
		return errors.New("argument --multi-turn-concurrency: it means --max-sessions: give one of the two")
	case t.MaxSessions != nil && *t.MaxSessions < 1:
		return fmt.Errorf("argument --max-sessions: %d: it must be greater than 0", *t.MaxSessions)
	case g.permits != nil && *g.permits < 1:
		return fmt.Errorf("argument --multi-turn-concurrency: %d: it must be greater than 0", *g.permits)
	case f.Changed("trace-speed") && !(s.Speed > 0 && s.Speed <= math.MaxFloat64):
		return fmt.Errorf("argument --trace-speed: %s: it must be greater than 0, and finite", metrics.FormatFloat(s.Speed))
	case s.To > 0 && s.To <= s.From:
		return fmt.Errorf("argument --trace-to: %s: it must be after --trace-from (%s)", s.To, s.From)
	case f.Changed("trace-block-size") && s.BlockSize < 1:
		return fmt.Errorf("argument --trace-block-size: %d: it must be greater than 0", s.BlockSize)
	}
	if n := g.permits; n != nil {
		t.MaxSessions = n
		g.Notes = append(g.Notes, fmt.Sprintf("--multi-turn-concurrency %d is taken as --max-sessions %[1]d, which bounds sessions begun and not ended: "+
			"the Rust client of vLLM begins all at once and bounds requests by it, which --max-concurrency %[1]d does here", *n))
	}
	return nil
}
