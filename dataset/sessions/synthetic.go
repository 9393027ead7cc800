package sessions

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/draw"
	"github.com/servebench/servebench/dataset/nprand"
)

// Synthetic makes sessions of drawn shape. A session is a main agent, whose turns are a chain: each
// prompt is the one before it, its answer, and a part that the turn adds. All prompts begin with
// one of a few system prompts. A turn may start sub-agents, which are chains, too; the next turn
// waits for all of them.
//
// Each draw depends on the seed, the session, the agent and the turn alone. So session number i is
// the same however many there are, and on every shard.
type Synthetic struct {
	dataset.Options      // Num sessions; a Tokenizer, or VocabSize for token ids
	Text            bool // prompts are sent as text; needs a Tokenizer
	// Live makes each turn of text only what it adds, so that its history has the server's own
	// answers. Otherwise history has made-up answers of the lengths asked for.
	Live bool
	Chat bool // with Live: the endpoint takes messages

	Turns  draw.Dist // requests of the main agent
	Shape  Shape
	System SystemPrompts
	Agents SubAgents

	MaxModelLen int // a chain ends before a turn that exceeds so many tokens with its answer; 0: never
}

// A Shape is what the turns of an agent are drawn from.
type Shape struct {
	First  draw.Dist // tokens of the first prompt, without the system prompt
	Input  draw.Dist // tokens that each later turn adds
	Growth float64   // each turn after the second adds so many times the tokens; 0: 1
	Output draw.Dist // tokens to ask for
	Gap    draw.Dist // seconds that a person thinks from an answer to the next turn
}

// SystemPrompts begin the prompts of agents.
type SystemPrompts struct {
	Kinds  int
	Tokens draw.Dist // of each kind
	Bias   float64   // kind k of 1, 2, … is k^Bias times less likely than the first
}

// shares are how likely the kinds are, each with those before it.
func (p *SystemPrompts) shares() (list []float64) {
	for k := range p.Kinds {
		list = append(list, nprand.Pow(float64(k+1), -p.Bias))
		if k > 0 {
			list[k] += list[k-1]
		}
	}
	return list
}

// SubAgents are agents that a turn of the main agent starts.
type SubAgents struct {
	Share  float64   // of turns, the last ones not counted, that start sub-agents
	Number draw.Dist // that such a turn starts
	Turns  draw.Dist // requests of each
	Gap    draw.Dist // seconds before their turns, and before a turn that waits for them
}

// Open checks the fields. It returns the source and the number of its sessions.
func (d Synthetic) Open() (dataset.Source, int, error) {
	if err := d.check(); err != nil {
		return nil, 0, err
	}
	minter, err := dataset.NewMinter(&d.Options, d.Text || d.Live)
	if err != nil {
		return nil, 0, err
	}
	s := &synthetic{of: d, minter: minter, shares: d.System.shares()}
	if s.of.Shape.Growth == 0 {
		s.of.Shape.Growth = 1
	}
	return dataset.Numbered(d.Num, s.session), d.Num, nil
}

func (d *Synthetic) check() error {
	for _, field := range []struct {
		name string
		dist draw.Dist
	}{
		{"turns", d.Turns}, {"first prompt", d.Shape.First}, {"input", d.Shape.Input}, {"output", d.Shape.Output},
		{"gap", d.Shape.Gap}, {"system prompt", d.System.Tokens},
		{"agents", d.Agents.Number}, {"agents' turns", d.Agents.Turns}, {"tool gap", d.Agents.Gap},
	} {
		if err := field.dist.Check(); err != nil {
			return fmt.Errorf("%s: %w", field.name, err)
		}
	}
	switch {
	case d.Num < 1:
		return fmt.Errorf("number of sessions %d: must be at least 1", d.Num)
	case d.System.Kinds < 0 || d.System.Kinds > 1<<20:
		return fmt.Errorf("%d kinds of system prompts: must be 0 to %d", d.System.Kinds, 1<<20)
	case !(d.System.Bias >= 0 && d.System.Bias < 100):
		return fmt.Errorf("bias %v of system prompts: must be at least 0 and below 100", d.System.Bias)
	case !ratio(d.Agents.Share):
		return fmt.Errorf("share %v of turns that start sub-agents: must be from 0 to 1", d.Agents.Share)
	case !(d.Shape.Growth >= 0 && d.Shape.Growth <= 100):
		return fmt.Errorf("growth %v: must be from 0 to 100", d.Shape.Growth)
	case (d.Text || d.Live) && d.Tokenizer == nil:
		return errors.New("sessions: needs a tokenizer to send text")
	}
	return nil
}

// synthetic is a checked Synthetic, with values derived from its fields.
type synthetic struct {
	of     Synthetic
	minter *dataset.Minter
	shares []float64 // of the kinds of system prompts, each with those before it
}

// An agent is one chain of turns of a session.
type agent struct {
	session, number int    // the main agent is number 0
	name            string // empty in a session of one agent
	turns           int
	blocks          []dataset.Block // of all its turns and answers so far; turns share it
	tokens          int             // of blocks
	added           float64         // tokens that the last turn added, as drawn and grown
	last            int             // position of its last turn
}

// session makes session number i.
func (s *synthetic) session(i int) (*dataset.Conversation, error) {
	c := &dataset.Conversation{ID: s.of.IDPrefix + strconv.Itoa(i)}
	if !s.of.Live {
		c.Mint = s.minter.Mint
	}
	main := s.agent(i, 0, s.of.Turns)
	agents := 0
	var joins []int // last turns of the sub-agents that the next turn waits for
	for k := range main.turns {
		if !s.add(c, &main, k, joins) {
			break
		}
		joins = nil
		if k == main.turns-1 || draw.Keyed(s.of.Seed, "fan-out", i, k).Random() >= s.of.Agents.Share {
			continue
		}
		for range s.of.Agents.Number.Whole(draw.Keyed(s.of.Seed, "agents", i, k), 0) {
			agents++
			sub := s.agent(i, agents, s.of.Agents.Turns)
			sub.name, sub.last = "agent-"+strconv.Itoa(agents), main.last
			for turn := range sub.turns {
				if !s.add(c, &sub, turn, nil) {
					break
				}
			}
			if sub.last != main.last {
				joins = append(joins, sub.last)
			}
		}
	}
	if len(c.Turns) == 0 {
		return nil, fmt.Errorf("session %d: its first prompt and answer exceed %d tokens", i, s.of.MaxModelLen)
	}
	if agents > 0 {
		for k := range c.Turns {
			if c.Turns[k].Agent == "" {
				c.Turns[k].Agent = "main"
			}
		}
	}
	return c, s.live(c)
}

// agent is an agent of a session that has sent nothing yet.
func (s *synthetic) agent(session, number int, turns draw.Dist) agent {
	a := agent{session: session, number: number, turns: turns.Whole(draw.Keyed(s.of.Seed, "turns", session, number), 1)}
	a.blocks = make([]dataset.Block, 0, min(2*a.turns+1, 1<<16))
	if s.of.System.Kinds == 0 {
		return a
	}
	at := draw.Keyed(s.of.Seed, "kind", session).Random() * s.shares[s.of.System.Kinds-1]
	kind := min(sort.Search(s.of.System.Kinds, func(k int) bool { return s.shares[k] > at }), s.of.System.Kinds-1)
	sub := min(number, 1) // sub-agents have system prompts other than the main agent's
	a.add(draw.Keyed(s.of.Seed, "system", kind, sub).State,
		s.of.System.Tokens.Whole(draw.Keyed(s.of.Seed, "system tokens", kind, sub), 0))
	return a
}

// add adds a block to what the agent's prompts begin with.
func (a *agent) add(id uint64, tokens int) {
	if tokens > 0 {
		a.blocks = append(a.blocks, dataset.Block{ID: id, Tokens: int32(tokens)})
		a.tokens += tokens
	}
}

// add adds turn number k of an agent to c, after the joined turns. It reports false if the turn
// would be too long.
func (s *synthetic) add(c *dataset.Conversation, a *agent, k int, joins []int) bool {
	key := []int{a.session, a.number, k}
	switch {
	case k == 0:
		a.added = float64(s.of.Shape.First.Whole(draw.Keyed(s.of.Seed, "first", key...), 1))
	case k > 1 && s.of.Shape.Growth != 1:
		a.added = min(a.added*s.of.Shape.Growth, math.MaxInt32)
	}
	tokens := int(a.added)
	if k > 0 && (k == 1 || s.of.Shape.Growth == 1) {
		tokens = s.of.Shape.Input.Whole(draw.Keyed(s.of.Seed, "input", key...), 1)
		a.added = float64(tokens)
	}
	turn := dataset.Turn{OutputLen: s.of.Shape.Output.Whole(draw.Keyed(s.of.Seed, "output", key...), 1), Agent: a.name,
		Waits: []dataset.Wait{}}
	turn.PromptLen = a.tokens + tokens
	if limit := s.of.MaxModelLen; limit > 0 && turn.PromptLen+turn.OutputLen > limit || turn.PromptLen > math.MaxInt32 {
		return false
	}
	a.add(draw.Keyed(s.of.Seed, "prompt", key...).State, tokens)
	turn.Blocks = a.blocks[:len(a.blocks):len(a.blocks)]
	a.add(draw.Keyed(s.of.Seed, "answer", key...).State, turn.OutputLen)
	gap := s.of.Shape.Gap
	if turn.Tool = a.number > 0 || len(joins) > 0; turn.Tool {
		gap = s.of.Agents.Gap
	}
	if k > 0 || a.number > 0 {
		turn.Waits = append(turn.Waits, dataset.Wait{Turn: a.last, History: s.history(k)})
		turn.Gap = gap.Draw(draw.Keyed(s.of.Seed, "gap", key...))
	}
	for _, join := range joins {
		turn.Waits = append(turn.Waits, dataset.Wait{Turn: join, History: dataset.Nothing})
	}
	a.last = len(c.Turns)
	c.Turns = append(c.Turns, turn)
	return true
}

// history is what turn number k of an agent has of the turn before it.
func (s *synthetic) history(k int) dataset.History {
	if s.of.Live && k > 0 {
		return dataset.Everything
	}
	return dataset.Nothing
}

// live makes the turns texts that only add to their history, if that is wanted.
func (s *synthetic) live(c *dataset.Conversation) error {
	if !s.of.Live {
		return nil
	}
	for k := range c.Turns {
		t := &c.Turns[k]
		blocks := t.Blocks
		for _, wait := range t.Waits {
			if wait.History == dataset.Everything {
				blocks = blocks[len(blocks)-1:]
			}
		}
		t.Blocks = nil
		var messages []message
		for i := range blocks {
			part := dataset.Turn{Blocks: blocks[i : i+1]}
			if err := s.minter.Mint(&part); err != nil {
				return err
			}
			role := "user"
			if i < len(blocks)-1 {
				role = "system"
			}
			messages = append(messages, message{role, part.Prompt})
		}
		if s.of.Chat {
			t.Messages = written(messages...)
		} else {
			t.Prompt = asText(k, messages...)
		}
	}
	return nil
}
