package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

// A finding is what a client sent of a trace, seen by the server.
type finding struct {
	Requests int // of the trace
	Arrived  int // of these, once
	Strange  int // requests that are not the trace's, or came again
	Sessions int // requests whose session header is their agent's, and no other session's
	Ordered  int // requests that came after the end of all answers that they wait for
	Shared   int // requests that share with each other request what they share in the trace
	Exact    int // requests that share it to the token; 0 for chats
	Early    int // requests that came more than a millisecond before they were due
	// Late is from when requests are due to their arrival, in milliseconds. The first requests of
	// sessions count where the trace has times, and then from the earliest of them.
	Late truth.Spread
}

// A sent is a step as it arrived.
type sent struct {
	step
	truth.Kept
	header string
	prompt prompt
}

// A prompt is what a model reads: a list of messages, or their tokens.
type prompt struct {
	messages []string
	tokens   []int
}

// An encoder makes tokens of a text.
type encoder func(text string) []int

// compare holds what the server kept against the trace.
func (t *trace) compare(all []truth.Kept, encode encoder) (f finding, err error) {
	f.Requests = len(t.steps)
	arrived := map[int]*sent{}
	for _, k := range all {
		name := k.Tokens()
		if name < firstName || name >= firstName+len(t.steps) || arrived[name] != nil {
			f.Strange++
			continue
		}
		s := &sent{step: t.steps[name-firstName], Kept: k, header: k.Field("X-Session-ID")}
		if s.prompt, err = promptOf(k.Body); err != nil {
			return f, err
		}
		if t.block > 0 {
			s.prompt.tokens = encode(strings.Join(s.prompt.messages, ""))
		}
		arrived[name] = s
	}
	f.Arrived = len(arrived)
	f.Sessions = headed(arrived)
	f.Ordered, f.Early, f.Late = ordered(arrived)
	if t.block > 0 {
		f.Shared, f.Exact = t.shared(arrived)
	} else {
		f.Shared = t.quoted(arrived)
	}
	return f, nil
}

// promptOf reads the prompt in a body, of a chat or a completion.
func promptOf(body []byte) (p prompt, err error) {
	var b struct {
		Prompt   json.RawMessage
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return p, fmt.Errorf("reading a body: %w", err)
	}
	if b.Prompt != nil {
		if json.Unmarshal(b.Prompt, &p.tokens) == nil {
			return p, nil
		}
		b.Messages = []struct{ Content json.RawMessage }{{b.Prompt}}
	}
	for _, m := range b.Messages {
		var parts []struct{ Text string }
		var text string
		if bytes.HasPrefix(m.Content, []byte("[")) {
			err = json.Unmarshal(m.Content, &parts)
			for _, part := range parts {
				text += part.Text
			}
		} else {
			err = json.Unmarshal(m.Content, &text)
		}
		if err != nil {
			return p, fmt.Errorf("reading a message: %w", err)
		}
		p.messages = append(p.messages, text)
	}
	return p, nil
}

// headed counts the requests whose header is as it should be: all requests of one agent have the
// same, and no other session has it.
func headed(arrived map[int]*sent) (n int) {
	type agent struct{ session, agent string }
	headers, owners := map[agent]map[string]bool{}, map[string]map[string]bool{}
	note := func(set map[string]bool, s string) map[string]bool {
		if set == nil {
			set = map[string]bool{}
		}
		set[s] = true
		return set
	}
	for _, s := range arrived {
		a := agent{s.session, s.agent}
		headers[a] = note(headers[a], s.header)
		owners[s.header] = note(owners[s.header], s.session)
	}
	for _, s := range arrived {
		if s.header != "" && len(headers[agent{s.session, s.agent}]) == 1 && len(owners[s.header]) == 1 {
			n++
		}
	}
	return n
}

// ordered counts the requests that came after what they wait for, and those that came before their
// time, and says how late requests came.
func ordered(arrived map[int]*sent) (n, early int, late truth.Spread) {
	var first, later []time.Duration
	for _, s := range arrived {
		var end int64
		whole := true
		for _, name := range s.after {
			before := arrived[name]
			whole = whole && before != nil && before.Ended > 0 && before.Ended <= s.Arrived
			if whole {
				end = max(end, before.Ended)
			}
		}
		if whole {
			n++
		}
		switch {
		case len(s.after) == 0:
			first = append(first, time.Duration(s.Arrived)-s.at)
		case whole:
			later = append(later, time.Duration(s.Arrived-end)-s.gap)
		}
	}
	if len(later) == 0 && len(first) > 0 { // a trace of times
		earliest := slices.Min(first)
		for _, t := range first {
			later = append(later, t-earliest)
		}
	}
	for _, t := range later {
		if t < -time.Millisecond {
			early++
		}
	}
	return n, early, truth.SpreadOf(later)
}

// shared counts the requests that have as many blocks in common with each other request, from the
// front, as the trace says, and those whose common tokens are as many as these blocks have. Clients
// that send texts may be off by a few tokens, so the number of blocks is rounded.
func (t *trace) shared(arrived map[int]*sent) (n, exact int) {
	for _, a := range arrived {
		same, sharp := true, true
		for _, b := range arrived {
			if a == b {
				continue
			}
			want, got := t.common(a.step, b.step), common(a.prompt.tokens, b.prompt.tokens)
			same = same && int(math.Round(float64(got)/float64(t.block))) == want
			sharp = sharp && got == want*t.block
		}
		if same {
			n++
		}
		if sharp {
			exact++
		}
	}
	return n, exact
}

// common is how many whole blocks two prompts have in common from the front.
func (t *trace) common(a, b step) int {
	return min(common(a.blocks, b.blocks), a.length/t.block, b.length/t.block)
}

func common[T comparable](a, b []T) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// quoted counts the chats whose messages are the texts of the file and the server's answers.
func (t *trace) quoted(arrived map[int]*sent) (n int) {
	for _, s := range arrived {
		if slices.Equal(s.prompt.messages, t.messages(s.step)) {
			n++
		}
	}
	return n
}

// messages are what a step of a chat sends.
func (t *trace) messages(s step) []string {
	if len(s.after) == 0 {
		return []string{s.adds}
	}
	before := t.steps[s.after[0]-firstName]
	length := before.name
	if t.chunks > 0 {
		length = min(length, t.chunks)
	}
	return append(t.messages(before), strings.Repeat(truth.Said, length), s.adds)
}
