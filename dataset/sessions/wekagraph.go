package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
)

// A wekaGraph makes the turns of a session of what is nested in it.
type wekaGraph struct {
	session *wekaSession
	made    prompts
	alone   bool // no sub-agents

	graph
	agents int
	path   []int
	count  wekaCount
}

// newWekaGraph is for the session of that number. Scope is a name of the file.
func newWekaGraph(s *wekaSession, seed int64, scope string, number int) *wekaGraph {
	g := &wekaGraph{session: s, count: wekaCount{models: map[string]bool{}}}
	g.made = prompts{seed: seed, scope: scope, session: s.name(number), size: wekaBlock}
	if s.Scope != "global" {
		g.made.scope += ":" + g.made.session
	}
	if s.BlockSize != nil {
		g.made.size = *s.BlockSize
	}
	return g
}

// build returns the turns.
func (g *wekaGraph) build() ([]dataset.Turn, error) {
	switch {
	case g.made.size < 1:
		return nil, &wekaError{err: fmt.Errorf(`"block_size" is %d: must be at least 1`, g.made.size)}
	case g.session.Scope != "" && g.session.Scope != "local" && g.session.Scope != "global":
		return nil, &wekaError{err: fmt.Errorf(`"hash_id_scope" is %q: may be "local" or "global"`, g.session.Scope)}
	}
	g.alone = !slices.ContainsFunc(g.session.Requests, wekaRequest.spawns)
	main := wekaAgent{last: -1}
	if !g.alone {
		main.name = "main"
	}
	if err := g.walk(g.session.Requests, &main, 0); err != nil {
		return nil, &wekaError{slices.Clone(g.path), err}
	}
	if len(g.turns) == 0 {
		return nil, &wekaError{err: errors.New("a session without requests")}
	}
	g.count.early = g.times(slices.Min(g.at))
	g.made.share(g.turns)
	return g.turns, nil
}

// spawns reports whether r is a sub-agent.
func (r wekaRequest) spawns() bool { return r.Type == "subagent" }

// A wekaAgent is an agent whose requests are walked.
type wekaAgent struct {
	name    string
	last    int   // its last turn, or the one that it was spawned after; −1 is none
	began   bool  // last is its turn
	spawned []int // last turns of sub-agents that it has not waited for
}

// walk adds the requests of an agent and of its sub-agents. Their times count from zero.
func (g *wekaGraph) walk(list []wekaRequest, agent *wekaAgent, zero time.Duration) error {
	g.path = append(g.path, 0)
	for i := range list {
		r := &list[i]
		g.path[len(g.path)-1] = i
		if r.T == nil {
			return errors.New(`no "t"`)
		}
		if !(*r.T >= 0 && *r.T < maxTime) {
			return fmt.Errorf(`"t" is %v: must be at least 0 and below %v`, *r.T, float64(maxTime))
		}
		var err error
		if at := dataset.Plus(zero, dataset.Seconds(*r.T)); r.spawns() {
			err = g.spawn(r, agent, zero, at)
		} else {
			err = g.request(r, agent, at)
		}
		if err != nil {
			return err
		}
	}
	g.path = g.path[:len(g.path)-1]
	return nil
}

// spawn adds the requests of a sub-agent of parent, spawned at a time.
func (g *wekaGraph) spawn(r *wekaRequest, parent *wekaAgent, zero, at time.Duration) error {
	g.agents++
	child := wekaAgent{name: cmp.Or(string(r.AgentID), "agent-"+strconv.Itoa(g.agents)), last: parent.last}
	if len(r.Requests) > 0 && r.Requests[0].T != nil && *r.Requests[0].T < *r.T {
		zero = at
	}
	if err := g.walk(r.Requests, &child, zero); err != nil {
		return err
	}
	if child.began && r.Status != "async_launched" {
		parent.spawned = append(parent.spawned, child.last)
	}
	return nil
}

// request adds a request.
func (g *wekaGraph) request(r *wekaRequest, agent *wekaAgent, at time.Duration) error {
	switch {
	case !fits(r.In):
		return fmt.Errorf(`"in" is %d: %s`, r.In, mustFit)
	case r.Out < 0 || r.Out >= maxLen:
		return fmt.Errorf(`"out" is %d: must be at least 0 and below 2²⁸`, r.Out)
	case r.APITime != nil && !(*r.APITime >= 0 && *r.APITime < maxTime):
		return fmt.Errorf(`"api_time" is %v: must be at least 0 and below %v`, *r.APITime, float64(maxTime))
	}
	if err := surplus(len(r.HashIDs), r.In, g.made.size); err != nil {
		return err
	}
	g.count.requests++
	turn := dataset.Turn{
		PromptLen: r.In, OutputLen: max(r.Out, 1), Agent: agent.name,
		Tool: slices.Contains(r.InputTypes, "tool_result"), Waits: []dataset.Wait{},
	}
	if r.Out < 1 {
		g.count.silent++
	}
	if r.Model != "" {
		g.count.models[r.Model] = true
	}
	if r.APITime == nil {
		g.count.untimed++
	} else {
		turn.Took = *r.APITime
	}
	if agent.last >= 0 {
		turn.Waits = append(turn.Waits, dataset.Wait{Turn: agent.last})
	}
	agent.spawned = slices.DeleteFunc(agent.spawned, func(last int) bool {
		ended := g.ends[last] <= at
		if ended {
			turn.Waits = append(turn.Waits, dataset.Wait{Turn: last})
		}
		return ended
	})
	turn.Tail = g.made.add(r.HashIDs, r.In, agent.last)
	agent.last, agent.began = len(g.turns), true
	g.add(turn, at)
	return nil
}
