package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"unique"

	"github.com/servebench/servebench/dataset/otlp"
)

// An otelID is a hash of the ids of a span and its trace; 0 is none.
type otelID uint64

// otelIDOf is the id of a span, which may be none.
func otelIDOf(trace, span name) otelID {
	if span == "" {
		return 0
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s:%s", trace, span)
	return otelID(hash.Sum64())
}

// An otelKind is what a span is for the structure of a session.
type otelKind uint8

const (
	otelOther otelKind = iota // nothing of GenAI, or unknown
	otelRequested
	otelAgent
	otelStep // another operation of GenAI, such as a tool
)

// An otelNode is a span as an ancestor of others.
type otelNode struct {
	parent otelID
	name   int32 // of an agent, in the list of names
	kind   otelKind
}

// An otelTool is when a tool began to work, and in which span.
type otelTool struct {
	session unique.Handle[otelName]
	start   int64
	parent  otelID
}

// An otelScan is the reading of all spans of a file. It keeps no texts.
type otelScan struct {
	chats   []otelChat
	tools   []otelTool
	count   otelCount
	lengths bool // some chats have no messages

	nodes   map[otelID]otelNode
	traces  map[string]string // the only conversation of a trace; empty if it has several
	names   []string          // of agents
	numbers map[string]int32  // of names
}

func newOTelScan() *otelScan {
	return &otelScan{count: otelCount{models: map[string]bool{}}, nodes: map[otelID]otelNode{},
		traces: map[string]string{}, numbers: map[string]int32{}}
}

// operation is what a span does, by the names of today and before. Some spans do not say it: with a model and a number
// of output tokens, they are of chats.
func operation(s *otlp.Span) string {
	said := s.Text("gen_ai.operation.name", "llm.request.type")
	if said == "" && s.Text("gen_ai.request.model") != "" {
		if out, err := s.Count(outputTokens...); out >= 0 || err != nil {
			return "chat"
		}
	}
	return said
}

// outputTokens are the names of how many tokens an answer has, today's first.
var outputTokens = []string{"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
	"llm.usage.completion_tokens"}

// span takes in a span.
func (s *otelScan) span(span *otlp.Span, at otlp.Place) (err error) {
	s.count.spans++
	node := otelNode{parent: otelIDOf(span.Trace, span.Parent)}
	id := otelIDOf(span.Trace, span.ID)
	session := s.named(span)
	switch operation := operation(span); operation {
	case "":
	case "chat", "text_completion", "generate_content", "completion":
		kept, err := s.chat(span, session, at)
		if err != nil {
			return err
		}
		if kept {
			node.kind = otelRequested
		}
	case "invoke_agent", "create_agent":
		node.kind, node.name = otelAgent, s.number(cmp.Or(span.Text("gen_ai.agent.name", "gen_ai.agent.id"), "agent"))
	case "embeddings", "embedding":
		s.count.embedded++
	default:
		node.kind = otelStep
		if start, _, err := span.Times(); err == nil && operation == "execute_tool" {
			s.tools = append(s.tools, otelTool{session, start, node.parent})
		}
	}
	if id != 0 {
		s.nodes[id] = node
	}
	return nil
}

// named is the session that a span names. It learns which conversation the trace is of.
func (s *otelScan) named(span *otlp.Span) unique.Handle[otelName] {
	of := otelName{span.Text("gen_ai.conversation.id"), string(span.Trace)}
	if id := of.conversation; id != "" {
		if known, ok := s.traces[of.trace]; ok && known != id {
			id = ""
		}
		s.traces[of.trace] = id
	}
	return unique.Make(of)
}

// number is the number of an agent's name.
func (s *otelScan) number(name string) int32 {
	number, known := s.numbers[name]
	if !known {
		number = int32(len(s.names))
		s.numbers[name], s.names = number, append(s.names, name)
	}
	return number
}

// chat takes in the span of a chat, and reports whether it is one that is sent.
func (s *otelScan) chat(span *otlp.Span, session unique.Handle[otelName], at otlp.Place) (kept bool, err error) {
	if span.Trace == "" {
		return false, errors.New(`no "traceId"`)
	}
	if span.End == "0" || span.End == "" { // as exporters write what has not ended: JSON of protobuf leaves zeros out
		s.count.chats++
		s.count.unended++
		return false, nil
	}
	start, end, err := span.Times()
	if err != nil {
		return false, err
	}
	r, err := requestOf(span)
	if err != nil {
		return false, err
	}
	s.count.chats++
	switch {
	case s.nodes[otelIDOf(span.Trace, span.ID)].kind == otelRequested:
		s.count.twice++
		return true, nil
	case span.Failed() && r.out < 1:
		s.count.failed++
		return false, nil
	case r.in < 1 && r.texts.sent == nil:
		s.count.bare++
		return false, nil
	}
	for _, flag := range []struct {
		is    bool
		count *int
	}{{r.cut, &s.count.cut}, {r.texts.odd, &s.count.odd},
		{r.texts.unsaid, &s.count.unsaid}, {r.out == 0, &s.count.silent}, {r.added, &s.count.added}} {
		if flag.is {
			*flag.count++
		}
	}
	if model := span.Text("gen_ai.request.model", "llm.request.model"); model != "" {
		s.count.models[model] = true
	}
	s.chats = append(s.chats, otelChat{at: at, start: start, end: end, session: session,
		id: otelIDOf(span.Trace, span.ID), parent: otelIDOf(span.Trace, span.Parent)})
	s.lengths = s.lengths || r.texts.sent == nil
	return true, nil
}

// An otelRequest is what a chat sends and asks for. Numbers of tokens are −1 if they are not known.
type otelRequest struct {
	in, out, cached, most int // most is max_tokens
	texts                 otelTexts
	cut                   bool // its messages cannot be read
	added                 bool // its input tokens were without the cached ones
}

// requestOf is what the span of a chat sends and asks for.
func requestOf(s *otlp.Span) (r otelRequest, err error) {
	created := 0
	for _, row := range []struct {
		into  *int
		names []string
	}{
		{&r.in, []string{"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"}},
		{&r.out, outputTokens},
		{&r.cached, []string{"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"}},
		{&created, []string{"gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"}},
	} {
		if *row.into, err = s.Count(row.names...); err != nil {
			return r, err
		}
	}
	if r.in >= 0 && r.cached > r.in {
		if r.in += r.cached + max(created, 0); !fits(r.in) {
			return r, fmt.Errorf("%d input tokens with the cached ones: %s", r.in, mustFit)
		}
		r.added = true
	}
	if r.out < 0 {
		if r.most, err = s.Count("gen_ai.request.max_tokens", "llm.request.max_tokens"); err != nil {
			return r, err
		}
	}
	if r.texts, err = textsOf(s); err != nil {
		r.texts, r.cut = otelTexts{}, true
	}
	return r, nil
}

// session is the session of a span: its conversation, or else the only one of its trace, or else
// its trace.
func (s *otelScan) session(named unique.Handle[otelName]) otelName {
	of := named.Value()
	if id := cmp.Or(of.conversation, s.traces[of.trace]); id != "" {
		return otelName{conversation: id}
	}
	return of
}

// maxAncestors is how many spans may be around a chat.
const maxAncestors = 256

// within reports whether a chat is within another one, with no agent and no tool in between.
func (s *otelScan) within(c otelChat) bool {
	at := c.parent
	for range maxAncestors {
		node, known := s.nodes[at]
		if !known || at == c.id || node.kind != otelOther {
			return known && at != c.id && node.kind == otelRequested
		}
		at = node.parent
	}
	return false
}

// agents are the agents around what is in a span, the innermost first; none if the spans go round.
func (s *otelScan) agents(at otelID) (ids []otelID) {
	for range maxAncestors {
		node, known := s.nodes[at]
		if !known {
			return ids
		}
		if node.kind == otelAgent {
			ids = append(ids, at)
		}
		at = node.parent
	}
	return nil
}

// agent is the innermost agent around what is in a span; 0 if there is none.
func (s *otelScan) agent(at otelID) otelID {
	if ids := s.agents(at); len(ids) > 0 {
		return ids[0]
	}
	return 0
}
