package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

// exactly is what the server keeps of a client without faults: each answer takes a millisecond, each
// request comes late after its gap, and each block has its own words.
func exactly(t *testing.T, tr trace, late time.Duration) (all []truth.Kept) {
	t.Helper()
	ended := map[int]int64{}
	for _, s := range tr.steps {
		arrived := int64(time.Hour + s.at)
		for i, name := range s.after {
			if i == 0 {
				arrived = 0
			}
			arrived = max(arrived, ended[name]+int64(s.gap+late))
		}
		ended[s.name] = arrived + int64(time.Millisecond)
		var prompt strings.Builder
		for i, block := range s.blocks {
			for n := range min(tr.block, s.length-i*tr.block) {
				fmt.Fprintf(&prompt, "%d-%d ", block, n)
			}
		}
		body := map[string]any{"max_tokens": s.name, "prompt": prompt.String()}
		if tr.block == 0 {
			var messages []map[string]any
			for i, text := range tr.messages(s) {
				messages = append(messages, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": text})
			}
			body = map[string]any{"max_completion_tokens": s.name, "messages": messages}
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, truth.Kept{Arrived: arrived, Ended: ended[s.name], Head: "POST / HTTP/1.1\r\nx-session-id: " + s.session, Body: text})
	}
	return all
}

// fields encodes each word as a token.
func fields() encoder {
	ids := map[string]int{}
	return func(text string) (tokens []int) {
		for word := range strings.FieldsSeq(text) {
			if ids[word] == 0 {
				ids[word] = len(ids) + 1
			}
			tokens = append(tokens, ids[word])
		}
		return tokens
	}
}

func traces(t *testing.T) []trace {
	t.Helper()
	dir := t.TempDir()
	var all []trace
	for _, m := range makers {
		tr, err := m.make(dir, 6)
		if err != nil {
			t.Fatal(err)
		}
		if tr.steps != nil {
			all = append(all, tr)
		}
	}
	return all
}

func compared(t *testing.T, tr trace, all []truth.Kept) finding {
	t.Helper()
	f, err := tr.compare(all, fields())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestComparingFindsNothingWrong(t *testing.T) {
	for _, tr := range traces(t) {
		n := len(tr.steps)
		want := finding{Requests: n, Arrived: n, Sessions: n, Ordered: n, Shared: n, Exact: n}
		if tr.block == 0 {
			want.Exact = 0
		}
		if f := compared(t, tr, exactly(t, tr, 0)); f != want || n < 6 {
			t.Errorf("%s: %+v, want %+v", tr.name, f, want)
		}
	}
}

// TestComparingFindsFaults has each fault in each trace, where it can be, and counts what it breaks.
func TestComparingFindsFaults(t *testing.T) {
	for _, tr := range traces(t) {
		last := len(tr.steps) - 1
		type fault struct {
			cause func(all []truth.Kept) []truth.Kept
			found func(f finding) int
			want  int
		}
		faults := map[string]fault{
			"lost":    {func(all []truth.Kept) []truth.Kept { return all[:last] }, func(f finding) int { return f.Requests - f.Arrived }, 1},
			"twice":   {func(all []truth.Kept) []truth.Kept { return append(all, all[0]) }, func(f finding) int { return f.Strange }, 1},
			"strange": {func(all []truth.Kept) []truth.Kept { return append(all, truth.Kept{Body: []byte(`{"max_tokens":7}`)}) }, func(f finding) int { return f.Strange }, 1},
			"no header": {func(all []truth.Kept) []truth.Kept { all[last].Head = "POST / HTTP/1.1"; return all },
				func(f finding) int { return f.Requests - f.Sessions }, len(tr.agentOf(last))},
			"another's header": {func(all []truth.Kept) []truth.Kept { all[last].Head = all[0].Head; return all },
				func(f finding) int { return f.Requests - f.Sessions }, len(tr.agentOf(last)) + len(tr.sessionOf(0))},
			"another prompt": {func(all []truth.Kept) []truth.Kept {
				all[last].Body = []byte(strings.Replace(string(all[last].Body), `"prompt":"`, `"prompt":"a `, 1))
				all[last].Body = []byte(strings.Replace(string(all[last].Body), `"content":"`, `"content":"a `, 1))
				return all
			}, func(f finding) int { return f.Requests - f.Shared }, tr.sharers(last)},
		}
		if len(tr.steps[last].after) > 0 {
			faults["too early"] = fault{func(all []truth.Kept) []truth.Kept { all[last].Arrived -= int64(tr.steps[last].gap) + 1; return all },
				func(f finding) int { return f.Requests - f.Ordered }, 1}
		}
		for name, fault := range faults {
			if n := fault.found(compared(t, tr, fault.cause(exactly(t, tr, 0)))); n != fault.want {
				t.Errorf("%s, %s: %d requests found, want %d", tr.name, name, n, fault.want)
			}
		}
	}
}

// agentOf are the steps of the agent that sent step i.
func (t *trace) agentOf(i int) (all []step) {
	for _, s := range t.steps {
		if s.session == t.steps[i].session && s.agent == t.steps[i].agent {
			all = append(all, s)
		}
	}
	return all
}

// sessionOf are the steps of the session of step i.
func (t *trace) sessionOf(i int) (all []step) {
	for _, s := range t.steps {
		if s.session == t.steps[i].session {
			all = append(all, s)
		}
	}
	return all
}

// sharers counts the steps that have a block in common with step i. The messages of a chat are each
// held against the file, so there it is one.
func (t *trace) sharers(i int) (n int) {
	if t.block == 0 {
		return 1
	}
	for _, s := range t.steps {
		if t.common(s, t.steps[i]) > 0 {
			n++
		}
	}
	return n
}

func TestLateRequestsAreMeasured(t *testing.T) {
	for _, tr := range traces(t) {
		const late = 5 * time.Millisecond
		all := exactly(t, tr, late)
		if tr.form == "mooncake" {
			all[0].Arrived -= int64(late) // all others are late behind it
		}
		if f := compared(t, tr, all); f.Late.P50 != 5 || f.Early > 0 {
			t.Errorf("%s: late by %+v, want 5 ms; %d early", tr.name, f.Late, f.Early)
		}
		if last := len(all) - 1; tr.steps[last].gap > 2*time.Millisecond {
			all[last].Arrived -= int64(late + 2*time.Millisecond)
			if f := compared(t, tr, all); f.Early != 1 {
				t.Errorf("%s: %d early, want 1", tr.name, f.Early)
			}
		}
	}
}

func TestTracesAreTheSame(t *testing.T) {
	a, b := traces(t), traces(t)
	for i := range a {
		a[i].file, b[i].file, a[i].folder, b[i].folder = "", "", "", ""
		if fmt.Sprint(a[i]) != fmt.Sprint(b[i]) {
			t.Errorf("%s is not the same again", a[i].name)
		}
	}
}
