package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// multiTurnFlags are the flags of the Rust client of vLLM for conversations, by its names.
type multiTurnFlags struct {
	*options
	turns   int
	delayMS float64
}

func (g *multiTurnFlags) define(f *argv.Flags) {
	m := &g.Plan.Workload.Settings.MultiTurn
	f.BoolVar(&m.On, "multi-turn", false,
		"make random and sharegpt send conversations of several turns. --num-prompts then counts conversations")
	f.Var(argv.Parsed(&g.turns, "", argv.ParseInt), "multi-turn-num-turns",
		"`N` turns of each conversation of random (default 3)")
	f.Var(argv.Parsed(&m.Min, "", argv.ParseInt), "multi-turn-min-turns",
		"`N` fewest turns of a conversation. random draws from N to --multi-turn-max-turns; sharegpt leaves out shorter "+
			"ones (default 2)")
	f.Var(argv.Parsed(&m.Max, "", argv.ParseInt), "multi-turn-max-turns",
		"`N` most turns of a conversation. sharegpt and conversations leave out the turns after them (default no limit)")
	f.Var(argv.Parsed(&g.delayMS, "", argv.ParseFloat), "multi-turn-delay-ms",
		"`MS` gap before each later turn of random and sharegpt, in milliseconds (default 0)")
	f.Var(argv.Parsed(&m.Random.Shared.Global, "", argv.ParseFloat), "multi-turn-prefix-global-ratio",
		"`RATIO` share of each prompt of random that all conversations begin with. Turns then have no history")
	f.Var(argv.Parsed(&m.Random.Shared.Conversation, "", argv.ParseFloat), "multi-turn-prefix-conversation-ratio",
		"`RATIO` share of each prompt of random that the turns of a conversation share. Turns then have no history")
	f.Var(argv.Parsed(&m.Random.Lengths.Later, "", argv.ParseInt), "per-turn-input-len",
		"`TOKENS` tokens that each later turn of random adds (default --random-input-len)")
	f.Var(argv.Parsed(&m.MaxModelLen, "", argv.ParseInt), "max-model-len",
		"`TOKENS` end conversations before the turn that exceeds this with its answer (default no limit). random and "+
			"sharegpt then leave out conversations of one turn")
}

// ofMultiTurn are the flags that only --multi-turn takes.
var ofMultiTurn = []string{"multi-turn-num-turns", "multi-turn-min-turns", "multi-turn-delay-ms",
	"multi-turn-prefix-global-ratio",
	"multi-turn-prefix-conversation-ratio", "per-turn-input-len"}

func (g *multiTurnFlags) resolve(f *argv.Flags) error {
	w, m := &g.Plan.Workload, &g.Plan.Workload.Settings.MultiTurn
	random := m.On && kinds.Find(w.Dataset).Has(kinds.MakesIDs)
	for _, name := range ofMultiTurn {
		if f.Changed(name) && !m.On {
			return fmt.Errorf("argument --%s: it needs --multi-turn", name)
		}
	}
	switch {
	case m.On && !kinds.Find(w.Dataset).Both():
		return fmt.Errorf("argument --multi-turn: it makes conversations of random and sharegpt, and %s is what its file "+
			"says", w.Dataset)
	case m.On && w.TokenIDs:
		return errors.New("argument --prompt-token-ids: conversations are sent as text, since their prompts have earlier " +
			"answers")
	case f.Changed("multi-turn-max-turns") && !m.On && !w.Has(kinds.BoundsTurns):
		return errors.New("argument --multi-turn-max-turns: it needs --multi-turn, or --dataset-name conversations")
	case f.Changed("max-model-len") && (m.MaxModelLen < 1 || !m.On && !w.Has(kinds.OwnAnswers)):
		return fmt.Errorf("argument --max-model-len: %d: it must be greater than 0, and needs --multi-turn, or "+
			"--dataset-name sessions", m.MaxModelLen)
	case m.Min < 0 || m.Max < 0 || m.Max > 0 && m.Max < m.Min:
		return fmt.Errorf("argument --multi-turn-max-turns: %d: it must be at least --multi-turn-min-turns (%d), which "+
			"must not be negative", m.Max, m.Min)
	case random && (m.Min > 0) != (m.Max > 0):
		return errors.New("argument --multi-turn-min-turns: random draws between two bounds: also give " +
			"--multi-turn-max-turns, and each above 0")
	case random && m.Min > 0 && f.Changed("multi-turn-num-turns"):
		return errors.New("argument --multi-turn-num-turns: --multi-turn-min-turns and -max-turns say it: give one of the " +
			"two")
	case f.Changed("multi-turn-num-turns") && g.turns < 1:
		return fmt.Errorf("argument --multi-turn-num-turns: %d: it must be greater than 0", g.turns)
	case !(g.delayMS >= 0) || g.delayMS > maxDelay:
		return fmt.Errorf("argument --multi-turn-delay-ms: %s: it must not be negative, nor more than a year",
			metrics.FormatFloat(g.delayMS))
	case random && w.Sessions.Answers == loadgen.Recorded:
		return errors.New("argument --session-answers: random has no recorded answers: it takes live")
	}
	if random && m.Min == 0 {
		m.Min = cmp.Or(g.turns, 3)
		m.Max = m.Min
	}
	m.Delay = time.Duration(g.delayMS * float64(time.Millisecond))
	return nil
}

// maxDelay is a year, in milliseconds.
const maxDelay = 366 * 24 * 3600 * 1000

// syntheticFlags describe the sessions of the dataset of that name.
type syntheticFlags struct{ *options }

func (g *syntheticFlags) define(f *argv.Flags) {
	kinds.Define(kinds.Synthetic, argv.Definer{Flags: f}, &g.Plan.Workload.Settings)
}

func (g *syntheticFlags) resolve(f *argv.Flags) error {
	var given string
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && argv.GroupOf(flag) == "Synthetic" {
			given = flag.Name
		}
	})
	if given != "" && kinds.Find(g.Plan.Workload.Dataset).Heading != kinds.Synthetic {
		return fmt.Errorf("argument --%s: it needs --dataset-name sessions", given)
	}
	return nil
}

// sessionFlags say which sessions are sent, and how.
type sessionFlags struct {
	*options
	permits *int   // of --multi-turn-concurrency
	timing  string // of later turns
	order   string // of what waits for slots
}

func (g *sessionFlags) define(f *argv.Flags) {
	s, t := &g.Plan.Workload.Sessions, &g.Plan.Traffic
	f.Var(argv.Optional(&t.MaxSessions, argv.ParseInt), "max-sessions",
		"`N` most sessions begun and not ended, also during their gaps (default no limit). Without a rate, N are kept going")
	f.Var(argv.Optional(&g.permits, argv.ParseInt), "multi-turn-concurrency",
		"`N` the same as --max-sessions. The Rust client of vLLM bounds requests by it, as --max-concurrency N "+
			"--session-order fifo does")
	f.StringVar(&g.order, "session-order", "", "`NAME` what gets a free slot of --max-concurrency first: depth later "+
		"turns, fifo first turns, as in the Rust client (default depth)")
	f.StringVar((*string)(&s.Answers), "session-answers", "",
		"`NAME` whose answers later prompts have: live (the server's), recorded (the dataset's), or server (it keeps "+
			"them). With server, which needs openai-responses, a turn sends only what it adds. The default is live, but "+
			"recorded for sessions. Prompts of lengths and hash ids have none")
	f.BoolVar(&s.Reasoning, "keep-reasoning", false,
		"keep the reasoning of live answers in later prompts, as the member reasoning of their messages. Most chat "+
			"templates drop it")
	f.StringVar((*string)(&s.Bust), "cache-bust", "",
		"`NAME` keep prompts out of prefix caches (default none). run makes them differ from runs with another --seed, "+
			"session makes each session differ from all others, too")
	f.StringVar(&g.Plan.Server.SessionHeader, "session-header", "",
		"`NAME` header with the session's id, for routers (default X-Session-ID)")
	f.StringVar(&g.timing, "trace-timing", "", "`NAME` when a later turn is due: think waits for its gap, absolute for "+
		"its time in the dataset (default think)")
	f.Var(argv.Parsed(&s.Speed, "", argv.ParseFloat), "trace-speed",
		"`X` divide the times and gaps of a dataset by X (default 1)")
	f.Var(argv.Parsed(&s.From, "", argv.ParseSeconds), "trace-from",
		"`TIME` start at this time of the dataset, in seconds or as 10m. Sessions that start earlier are left out")
	f.Var(argv.Parsed(&s.To, "", argv.ParseSeconds), "trace-to",
		"`TIME` leave out sessions that start at this time of the dataset or later (default no limit)")
	f.Var(argv.Parsed(&s.GapCap, "", argv.ParseSeconds), "trace-gap-cap",
		"`TIME` shorten longer gaps to this time, before --trace-speed (default no limit)")
	f.Var(argv.Parsed(&g.Plan.Workload.Settings.BlockSize, "", argv.ParseInt), "trace-block-size",
		"`TOKENS` tokens that each hash id of a trace stands for (default 512 for mooncake, and for weka what its file says)")
	f.Choices("session-answers", string(loadgen.Live), string(loadgen.Recorded), string(loadgen.Stored))
	f.Choices("session-order", "depth", "fifo")
	f.Choices("cache-bust", "none", string(loadgen.BustRun), string(loadgen.BustSession))
	f.Choices("trace-timing", "think", "absolute")
}

func (g *sessionFlags) resolve(f *argv.Flags) error {
	s, t := &g.Plan.Workload.Sessions, &g.Plan.Traffic
	t.Absolute, t.Breadth = g.timing == "absolute", g.order == "fifo"
	if s.Bust == "none" {
		s.Bust = ""
	}
	switch {
	case s.Answers == loadgen.Stored && !g.Plan.Server.API().Stores():
		return errors.New("argument --session-answers: server: only --backend openai-responses has servers that keep answers")
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
	case f.Changed("trace-block-size") && g.Plan.Workload.Settings.BlockSize < 1:
		return fmt.Errorf("argument --trace-block-size: %d: it must be greater than 0", g.Plan.Workload.Settings.BlockSize)
	}
	if n := g.permits; n != nil {
		t.MaxSessions, s.SlotsFlag = n, "--multi-turn-concurrency"
		g.Notes = append(g.Notes, fmt.Sprintf("--multi-turn-concurrency %d is taken as --max-sessions %[1]d, which bounds "+
			"sessions begun and not ended: "+
			"the Rust client of vLLM begins all at once and bounds requests, as --max-concurrency %[1]d --session-order fifo "+
			"does", *n))
	}
	return nil
}
