package sessions

import (
	"cmp"
	"math"
	"slices"

	"github.com/servebench/servebench/dataset"
)

// An otelTree is the chats of a session and the agents that they are of. It is made of what
// happened in a row and what side by side.
type otelTree struct {
	graph
	chats  []otelChat
	made   *otelPrompts
	root   otelItem
	agents [][]otelID // around each chat, and 0
	names  []string   // of the innermost agents
}

// An otelItem is a chat, or an agent with the items within it, in the order of their starts.
type otelItem struct {
	start, end  int64 // of its chats
	first, last int   // numbers of its chats
	name        string
	items       []*otelItem // of an agent
	ends        []int       // the last of its chats, which none of its others waits for
	tips        []int       // the chats that a later prompt of the agent may go on from
}

// newOTelTree puts chats, in the order of their starts, into their agents.
func newOTelTree(chats []otelChat, scan *otelScan, made *otelPrompts) *otelTree {
	g := &otelTree{chats: chats, made: made}
	agents := map[otelID]*otelItem{}
	for i := range chats {
		c := &chats[i]
		around := &g.root
		ids := scan.agents(c.parent)
		slices.Reverse(ids)
		for _, id := range ids {
			agent := agents[id]
			if agent == nil {
				agent = &otelItem{start: c.start, first: i, name: scan.names[scan.nodes[id].name]}
				agents[id], around.items = agent, append(around.items, agent)
			}
			agent.end, agent.last = max(agent.end, c.end), i
			around = agent
		}
		around.items = append(around.items, &otelItem{start: c.start, end: c.end, first: i, last: i})
		g.agents, g.names = append(g.agents, append(ids, 0)), append(g.names, around.name)
	}
	return g
}

// agent is the name of the agent of a chat; empty if the session has one agent.
func (g *otelTree) agent(chat int) string {
	if !slices.ContainsFunc(g.names, func(name string) bool { return name != g.names[0] }) {
		return ""
	}
	return cmp.Or(g.names[chat], "main")
}

// wait lets the turns wait for one another, and marks the gaps in which a tool began to work: of the same agent, or of
// one around it, which a sub-agent may work for.
func (g *otelTree) wait(tools map[otelID][]int64) {
	g.walk(&g.root, nil)
	for i := range g.turns {
		if len(g.turns[i].Waits) == 0 {
			continue
		}
		var ready int64
		for _, wait := range g.turns[i].Waits {
			ready = max(ready, g.chats[wait.Turn].end)
		}
		for _, agent := range g.agents[i] {
			starts := tools[agent]
			next, _ := slices.BinarySearch(starts, ready)
			g.turns[i].Tool = g.turns[i].Tool || next < len(starts) && starts[next] < g.chats[i].start
		}
	}
}

// walk lets the first chats of an agent wait for the chats before, and each later item for those that
// had ended. It sets the ends of the agent.
func (g *otelTree) walk(agent *otelItem, before []int) {
	var open, ended []*otelItem // items that a later one may wait for
	for at, item := range agent.items {
		waits := before
		if open, ended = latest(open, item); len(ended) > 0 {
			waits = allEnds(ended)
		}
		if item.items == nil {
			for _, turn := range waits {
				g.turns[item.first].Waits = append(g.turns[item.first].Waits, dataset.Wait{Turn: turn})
			}
			item.ends = []int{item.first}
			agent.tips = g.made.follow(agent.tips, item.first)
		} else {
			for _, same := range slices.Backward(agent.items[:at]) {
				if same.items != nil && same.name == item.name && same.ended(item) {
					item.tips = slices.Clone(same.tips)
					break
				}
			}
			g.walk(item, waits)
		}
		open = append(open, item)
	}
	_, ended = latest(open, &otelItem{start: math.MaxInt64, first: math.MaxInt})
	agent.ends = allEnds(ended)
}

// ended reports whether an item had ended when the next one started.
func (i *otelItem) ended(next *otelItem) bool { return i.end <= next.start && i.last < next.first }

// latest is the items of open that had ended when the next one started, without those that another of
// them came after. Open is without the latter, too: nothing later waits for them.
func latest(open []*otelItem, next *otelItem) (left, ended []*otelItem) {
	var last *otelItem
	for _, i := range open {
		if i.ended(next) && (last == nil || i.start >= last.start) {
			last = i
		}
	}
	if last == nil {
		return open, nil
	}
	left = slices.DeleteFunc(open, func(i *otelItem) bool { return i.ended(last) })
	for _, i := range left {
		if i.ended(next) {
			ended = append(ended, i)
		}
	}
	return left, ended
}

// allEnds is the ends of several items.
func allEnds(items []*otelItem) (ends []int) {
	for _, i := range items {
		ends = append(ends, i.ends...)
	}
	return ends
}
