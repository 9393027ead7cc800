package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

// A step is one request of a trace, as the program that made the trace knows it. Each asks for
// another number of tokens, which is its name.
type step struct {
	name    int
	session string
	agent   string
	after   []int         // the steps whose answers it waits for
	at      time.Duration // when it was sent, from the trace's start
	took    time.Duration // how long its answer took
	gap     time.Duration // from the last answer that it waits for to it
	length  int           // tokens of its prompt
	blocks  []int         // of its prompt, the last perhaps shorter
	adds    string        // what a chat adds
}

// A trace is a file of sessions and what it means.
type trace struct {
	name         string
	form, theirs string // the format's name here, and AIPerf's
	file         string
	folder       string // a file a session, for AIPerf; empty if it reads file
	timed        bool   // sessions start at times of the trace
	vllm         bool   // it is for vLLM's script
	block        int    // tokens of a block; 0 for chats
	chunks       int    // an answer has no more; 0 for no limit
	steps        []step // after the steps that they wait for; nil if only clients know
}

// sessions is how many there are.
func (t *trace) sessions() int {
	names := map[string]bool{}
	for _, s := range t.steps {
		names[s.session] = true
	}
	return len(names)
}

// A maker makes a trace with one seed, so that it is the same each time.
type maker struct {
	*rand.Rand
	trace
	ids int // the last block's
}

// firstName is the number of tokens that the first step asks for.
const firstName = 100

func newMaker(t trace) *maker {
	return &maker{Rand: rand.New(rand.NewPCG(20261123, uint64(t.block))), trace: t}
}

// add adds a step, names it and returns its name.
func (m *maker) add(s step) int {
	s.name = firstName + len(m.steps)
	m.steps = append(m.steps, s)
	return s.name
}

// grown is blocks and n new ones.
func (m *maker) grown(blocks []int, n int) []int {
	blocks = slices.Clone(blocks)
	for range n {
		m.ids++
		blocks = append(blocks, m.ids)
	}
	return blocks
}

// between is a time from a to b milliseconds.
func (m *maker) between(a, b int) time.Duration {
	return time.Duration(a+m.IntN(b-a+1)) * time.Millisecond
}

// mooncake makes a trace in the form of Mooncake's: rows with a time, a length and blocks. Each row
// goes on from one before it, or from one of four common beginnings, and its last block is shorter
// and nobody else's.
func mooncake(dir string, rows int) (trace, error) {
	m := newMaker(trace{name: "Mooncake", form: "mooncake", theirs: "mooncake_trace", timed: true, block: 512,
		chunks: fewestChunks})
	var paths [][]int
	for range 4 {
		paths = append(paths, m.grown(nil, 1+m.IntN(2)))
	}
	var at time.Duration
	var text strings.Builder
	for range rows {
		whole := m.grown(paths[m.IntN(len(paths))], 1+m.IntN(2))
		if len(whole) < 10 {
			paths = append(paths, whole)
		}
		row := step{at: at, blocks: m.grown(whole, 1), length: m.block*len(whole) + 1 + m.IntN(m.block-1)}
		name := m.add(row)
		m.steps[len(m.steps)-1].session = fmt.Sprint(name)
		line, err := json.Marshal(map[string]any{"timestamp": at.Milliseconds(), "input_length": row.length,
			"output_length": name, "hash_ids": row.blocks})
		if err != nil {
			return m.trace, err
		}
		text.Write(append(line, '\n'))
		at += m.between(5, 75)
	}
	m.file = filepath.Join(dir, "mooncake.jsonl")
	return m.trace, os.WriteFile(m.file, []byte(text.String()), 0o644)
}

// A wekaRequest is a request of a Weka trace.
type wekaRequest struct {
	T       float64  `json:"t"`
	Type    string   `json:"type"`
	Model   string   `json:"model"`
	In      int      `json:"in"`
	Out     int      `json:"out"`
	Blocks  []int    `json:"hash_ids"`
	Inputs  []string `json:"input_types"`
	Outputs []string `json:"output_types"`
	Stop    string   `json:"stop"`
	Took    float64  `json:"api_time"`
}

// A wekaAgent is a sub-agent of a Weka trace, with its requests.
type wekaAgent struct {
	T        float64       `json:"t"`
	Type     string        `json:"type"`
	ID       string        `json:"agent_id"`
	Kind     string        `json:"subagent_type"`
	Status   string        `json:"status"`
	Duration int64         `json:"duration_ms"`
	Tokens   int           `json:"total_tokens"`
	Uses     int           `json:"tool_use_count"`
	Models   []string      `json:"models"`
	Requests []wekaRequest `json:"requests"`
}

// request is how a Weka trace has step s.
func (m *maker) request(s step) wekaRequest {
	return wekaRequest{T: s.at.Seconds(), Type: "n", Model: truth.Model, In: s.length, Out: s.name, Blocks: s.blocks,
		Took:   s.took.Seconds(),
		Inputs: []string{"text"}, Outputs: []string{"text"}, Stop: "end_turn"}
}

// weka makes a trace of agents: sessions of turns, some of which start sub-agents that the next
// turn waits for.
func weka(dir string, sessions int) (trace, error) {
	m := newMaker(trace{name: "Weka", form: "weka", theirs: "weka_trace", block: 64, chunks: fewestChunks})
	m.file, m.folder = filepath.Join(dir, "weka.jsonl"), filepath.Join(dir, "weka")
	failed := os.MkdirAll(m.folder, 0o755)
	var all []byte
	for i := range sessions {
		id := fmt.Sprintf("job-%02d", i)
		requests := m.job(id)
		text, err := json.Marshal(map[string]any{"id": id, "models": []string{truth.Model}, "block_size": m.block,
			"hash_id_scope": "local",
			"tool_tokens":   m.block, "system_tokens": m.block, "requests": requests})
		failed = errors.Join(failed, err, os.WriteFile(filepath.Join(m.folder, id+".json"), text, 0o644))
		all = append(append(all, text...), '\n')
	}
	return m.trace, errors.Join(failed, os.WriteFile(m.file, all, 0o644))
}

// job makes one session of a Weka trace. Blocks mean something within it only.
func (m *maker) job(session string) (requests []any) {
	blocks := m.grown(nil, 4+m.IntN(8))
	var at time.Duration
	var after []int
	for turns := range 5 {
		main := step{session: session, at: at, took: m.between(20, 80), gap: m.gapTo(after, at), after: after,
			blocks: blocks, length: m.block * len(blocks)}
		main.name = m.add(main)
		requests = append(requests, m.request(main))
		after, at = []int{main.name}, at+main.took
		end := at
		for child := range (turns % 2) * m.IntN(3) {
			entry, last, ended := m.helper(main, fmt.Sprintf("%d-%d", turns, child))
			requests = append(requests, entry)
			after, end = append(after, last), max(end, ended)
		}
		at = end + m.between(30, 150)
		blocks = m.grown(blocks, 2+m.IntN(3))
	}
	return requests
}

// gapTo is the time from the last end of the steps called after to at.
func (m *maker) gapTo(after []int, at time.Duration) time.Duration {
	var end time.Duration
	for _, name := range after {
		s := m.steps[name-firstName]
		end = max(end, s.at+s.took)
	}
	return at - end
}

// helper makes a sub-agent of two requests that a turn starts. It returns the last one's name and
// end.
func (m *maker) helper(main step, agent string) (entry wekaAgent, last int, ended time.Duration) {
	blocks := m.grown(nil, 3)
	began := main.at + main.took + m.between(10, 60)
	at, after := began, []int{main.name}
	entry = wekaAgent{T: began.Seconds(), Type: "subagent", ID: agent, Kind: "Explore", Status: "completed",
		Models: []string{truth.Model}, Uses: 1}
	for range 2 {
		s := step{session: main.session, agent: agent, at: at, took: m.between(20, 50), gap: m.gapTo(after, at),
			after: after, blocks: blocks, length: m.block * len(blocks)}
		s.name = m.add(s)
		entry.Requests = append(entry.Requests, m.request(s))
		entry.Tokens += s.length + s.name
		last, ended = s.name, s.at+s.took
		at, after, blocks = ended+m.between(10, 60), []int{last}, m.grown(blocks, 2)
	}
	entry.Duration = (ended - began).Milliseconds()
	return entry, last, ended
}

// multiTurn makes a file of conversations in AIPerf's multi-turn form: texts, with gaps after the
// answers.
func multiTurn(dir string, sessions int) (trace, error) {
	m := newMaker(trace{name: "multi-turn", form: "multi_turn", theirs: "multi_turn", chunks: fewestChunks})
	var text strings.Builder
	for i := range sessions {
		type turn struct {
			Text   string `json:"text"`
			Tokens int    `json:"output_length"`
			Delay  int64  `json:"delay,omitempty"`
		}
		var turns []turn
		var after []int
		session := fmt.Sprintf("chat-%02d", i)
		for number := range 3 + m.IntN(4) {
			s := step{session: session, after: after, adds: fmt.Sprintf("This is question %d of conversation %d: %s", number, i,
				m.words(20+m.IntN(60)))}
			if number > 0 {
				s.gap = m.between(50, 400)
			}
			after = []int{m.add(s)}
			turns = append(turns, turn{s.adds, after[0], s.gap.Milliseconds()})
		}
		line, err := json.Marshal(map[string]any{"session_id": session, "turns": turns})
		if err != nil {
			return m.trace, err
		}
		text.Write(append(line, '\n'))
	}
	m.file = filepath.Join(dir, "chats.jsonl")
	return m.trace, os.WriteFile(m.file, []byte(text.String()), 0o644)
}

// words is a text of n words.
func (m *maker) words(n int) string {
	all := make([]string, n)
	for i := range all {
		for range 2 + m.IntN(6) {
			all[i] += string(rune('a' + m.IntN(26)))
		}
	}
	return strings.Join(all, " ")
}

// conversations makes a list of vLLM's: users' texts, and answers of as many tokens as are asked for.
func conversations(dir string, sessions int) (trace, error) {
	m := newMaker(trace{name: "conversations", form: "conversations", vllm: true})
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	type item struct {
		ID       string    `json:"id"`
		Messages []message `json:"messages"`
	}
	list := make([]item, sessions)
	for i := range list {
		list[i].ID = fmt.Sprintf("c-%02d", i)
		var after []int
		for range 2 + m.IntN(3) {
			s := step{session: list[i].ID, after: after, adds: m.words(20 + m.IntN(60))}
			after = []int{m.add(s)}
			list[i].Messages = append(list[i].Messages, message{"user", s.adds},
				message{"assistant", strings.Repeat(truth.Said, after[0])})
		}
	}
	text, err := json.Marshal(list)
	m.file = filepath.Join(dir, "conversations.json")
	return m.trace, errors.Join(err, os.WriteFile(m.file, text, 0o644))
}

// fewestChunks is how many chunks an answer has where only its request matters.
const fewestChunks = 8

// makers make the traces, with so many sessions, in a folder. Those for AIPerf have some 400 requests
// and more, so that P99 leaves out the few that are due together at the start.
var makers = []struct {
	make     func(dir string, sessions int) (trace, error)
	sessions int
}{{mooncake, 400}, {weka, 64}, {multiTurn, 120}, {conversations, 24}}
