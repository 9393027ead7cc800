package sessions

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
	"unique"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/otlp"
)

// OTel replays spans of OpenTelemetry's conventions for GenAI, as JSON of OTLP: one document, or one
// a line. The spans of a trace may be on several lines, in any order.
//
// A session is the chats with one gen_ai.conversation.id, or else with one trace id. A chat waits for
// the chats that had ended when it started, but chats of agents that ran at the same time do not wait
// for each other. The gap is the time since then, so it contains the time of tools.
//
// A chat with gen_ai.input.messages sends these messages. Other chats are lengths. Their prompts
// share with an earlier prompt of the same agent as many tokens as the recorded cache had found; if
// that is not recorded, a prompt that is longer than the prompt before and its answer goes on from
// both. Sessions start in the order of their first chats, and times count from the first of all.
//
// Left out are embeddings, chats that failed without an answer, chats with neither lengths nor
// messages, and chats within another chat, since a gateway records a request again.
type OTel struct {
	dataset.Options      // Num 0 and less means all; with a Tokenizer or VocabSize for lengths
	Text            bool // prompts of lengths are sent as text, and others as messages, as chats need
}

// Open reads the file. It returns the source and the number of its sessions.
func (d OTel) Open() (dataset.Source, int, error) {
	file, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	return d.read(file)
}

// read reads a file, which must stay open for the source.
func (d OTel) read(file io.ReaderAt) (dataset.Source, int, error) {
	scan := newOTelScan()
	if err := otlp.Spans(file, d.Path, scan.span); err != nil {
		return nil, 0, err
	}
	trace := otelTrace{d: &d, file: file, scan: scan}
	trace.arrange()
	scan.count.notices(&d.Options)
	if len(trace.sessions) == 0 {
		return nil, 0, fmt.Errorf("%s: none of %s in resourceSpans is a chat (gen_ai.operation.name) with token counts or "+
			"messages", d.Path, count(scan.count.spans, "span"))
	}
	if scan.lengths {
		var err error
		if trace.scope, err = contents(file); err != nil {
			return nil, 0, fmt.Errorf("reading %s: %w", d.Path, err)
		}
		if trace.minter, err = dataset.NewMinter(&d.Options, d.Text); err != nil {
			return nil, 0, err
		}
	}
	n := number(&d.Options, len(trace.sessions))
	return dataset.Numbered(n, trace.session), n, nil
}

// An otelChat is what is kept of the span of a chat. Times are nanoseconds since 1970.
type otelChat struct {
	at         otlp.Place
	start, end int64
	id, parent otelID
	session    unique.Handle[otelName]
}

// An otelName is the session of a span: a conversation, if it has one, and a trace.
type otelName struct{ conversation, trace string }

// An otelSession is the chats of a session, in the order of their starts.
type otelSession struct {
	name  otelName
	chats []otelChat
	tools map[otelID][]int64 // when tools of an agent began to work, ascending; 0 without an agent
}

// An otelTrace is a file that has been scanned.
type otelTrace struct {
	d        *OTel
	file     io.ReaderAt
	scan     *otelScan
	sessions []otelSession // in the order of their starts
	scope    string        // of blocks
	minter   *dataset.Minter
}

// arrange makes sessions of the chats that have been found.
func (t *otelTrace) arrange() {
	s := t.scan
	numbers := map[otelName]int{}
	for _, c := range s.chats {
		if s.within(c) {
			s.count.again++
			continue
		}
		name := s.session(c.session)
		number, known := numbers[name]
		if !known {
			number = len(t.sessions)
			numbers[name], t.sessions = number, append(t.sessions, otelSession{name: name})
		}
		t.sessions[number].chats = append(t.sessions[number].chats, c)
	}
	for _, tool := range s.tools {
		if number, known := numbers[s.session(tool.session)]; known {
			one := &t.sessions[number]
			if one.tools == nil {
				one.tools = map[otelID][]int64{}
			}
			agent := s.agent(tool.parent)
			one.tools[agent] = append(one.tools[agent], tool.start)
		}
	}
	for _, one := range t.sessions {
		for _, starts := range one.tools {
			slices.Sort(starts)
		}
		slices.SortStableFunc(one.chats, func(a, b otelChat) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
		})
	}
	slices.SortStableFunc(t.sessions, func(a, b otelSession) int {
		return cmp.Compare(a.chats[0].start, b.chats[0].start)
	})
	s.chats, s.tools = nil, nil
}

// session builds a session.
func (t *otelTrace) session(number int) (*dataset.Conversation, error) {
	chats, name := t.sessions[number].chats, t.sessions[number].name
	zero := t.sessions[0].chats[0].start
	id := cmp.Or(name.conversation, name.trace)
	c := &dataset.Conversation{ID: t.d.IDPrefix + id, Due: new(seconds(time.Duration(chats[0].start - zero)))}
	made := otelPrompts{seed: t.d.Seed, scope: t.scope, session: id}
	g := newOTelTree(chats, t.scan, &made)
	for i := range chats {
		chat := &chats[i]
		span, err := chat.at.Span(t.file)
		var r otelRequest
		if err == nil {
			r, err = requestOf(&span)
		}
		if err != nil {
			return nil, chat.at.Fault(t.file, t.d.Path, err)
		}
		turn := t.turn(&r)
		turn.Agent, turn.Took = g.agent(i), seconds(time.Duration(chat.end-chat.start))
		g.add(turn, time.Duration(chat.start-zero))
		made.add(&r, chat)
	}
	g.wait(t.sessions[number].tools)
	g.times(0)
	if t.minter != nil {
		made.fill(g.turns)
		c.Mint = t.minter.Mint
	}
	c.Turns = g.turns
	return c, nil
}

// turn is the turn of a request, with its prompt if that is messages.
func (t *otelTrace) turn(r *otelRequest) dataset.Turn {
	turn := dataset.Turn{PromptLen: max(r.in, 0), OutputLen: max(r.out, 1), Waits: []dataset.Wait{}}
	if r.out < 0 {
		turn.OutputLen = max(r.most, 0)
	}
	if said := r.texts.answer; said != nil {
		turn.Answer = asJSON(said)
		count := counter{o: &t.d.Options}
		if tokens := count.text(said.Content); r.out < 0 && tokens > 0 {
			turn.OutputLen = tokens
		}
	}
	if r.texts.sent == nil {
		return turn
	}
	count := counter{o: &t.d.Options}
	var plain []message
	for _, m := range r.texts.sent {
		count.text(m.Content)
		plain = append(plain, m.message)
	}
	if turn.PromptLen == 0 {
		turn.PromptLen = count.prompt()
	}
	if t.d.Text {
		turn.Messages = asJSON(r.texts.sent)
	} else {
		turn.Prompt = asText(0, plain...)
	}
	return turn
}

// An otelCount is what people should know of a file.
type otelCount struct {
	spans    int
	chats    int
	failed   int // without an answer
	unended  int // without an end
	unsaid   int // with an answer that cannot be read
	bare     int // with neither lengths nor messages
	again    int // within another chat
	twice    int // the same span as before
	embedded int // embeddings
	cut      int // with messages that cannot be read
	odd      int // with messages of other things than texts and tools
	silent   int // with an answer of no tokens
	added    int // with more cached tokens than tokens
	models   map[string]bool
}

func (c *otelCount) notices(o *dataset.Options) {
	for _, row := range []struct {
		n    int
		what string
	}{
		{c.failed, "failed without an answer: left out"},
		{c.unended, "have no end: left out"},
		{c.bare, "have neither token counts nor messages: left out"},
		{c.again, "are within another chat, which they repeat: left out"},
		{c.twice, "are in the file before: left out"},
		{c.cut, "have messages that cannot be read, such as those that were cut: their lengths are sent"},
		{c.unsaid, "have an answer that cannot be read: their prompts are sent"},
		{c.odd, "have messages with other parts than texts and tools: without those parts"},
		{c.silent, "have an answer of no tokens: they ask for one"},
		{c.added, "have more cached input tokens than input tokens: the sum is sent"},
	} {
		if row.n > 0 {
			notice(o, "%s: %d of %d chats %s", o.Path, row.n, c.chats, row.what)
		}
	}
	if c.embedded > 0 {
		notice(o, "%s: %s for embeddings: left out", o.Path, count(c.embedded, "request"))
	}
	if len(c.models) > 1 {
		notice(o, "%s: its chats are for %d models: all go to the one of the run", o.Path, len(c.models))
	}
}
