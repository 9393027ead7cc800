package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/loadgen/sim/words"
)

// Bounds say how a dry run sends. The zero value is one server and no limits.
type Bounds struct {
	Servers     int  // replicas, which sessions take in turns; a session stays on one. 1 when zero
	Sessions    int  // sessions begun and not over at most; 0 for no limit
	Concurrency int  // requests in flight at most; 0 for no limit
	Absolute    bool // a later turn is due when its recording was sent, if what it waits for has ended
	Live        bool // prompts of text have the server's answers, not the recorded ones
	Chunks      bool // keep when each chunk of an answer came

	// Early lets an answer with a length end before it, as the profile says.
	Early bool
}

// A SimulatedRequest is a request of a dry run. Its times count from the start of the run.
type SimulatedRequest struct {
	Load                  int // of several that run together, from 0
	Session, Turn, Server int // positions, from 0
	Prompt, Found, Out    int // tokens; Found were in the prefix cache, of Prompt

	Due   time.Duration // when it was to be sent
	Sent  time.Duration // when the bounds let it be sent
	First time.Duration // first token
	End   time.Duration // last token

	// Chunks are the tokens that came together and when, if the bounds keep them.
	Chunks []Chunk

	// Refused says that prompt and output are too long for the model. It ends the session.
	Refused bool
}

// A Chunk is the tokens of an answer that come together.
type Chunk struct {
	Tokens int
	At     time.Duration
}

// A DryLoad is the load on one server of several in a dry run.
type DryLoad struct {
	Config Config // servers whose Configs name one GPU share it
	Source dataset.Source
	Bounds Bounds
}

// Together makes the dry runs of several loads at once, on one clock. It ends at the first error.
func Together(loads []DryLoad) iter.Seq2[SimulatedRequest, error] {
	return func(yield func(SimulatedRequest, error) bool) {
		c := new(clock)
		for i, l := range loads {
			d, err := newDry(l.Config, l.Bounds, new(Forecast))
			if err != nil {
				yield(SimulatedRequest{}, err)
				return
			}
			d.clock, d.load = c, i
			defer d.begin(l.Source, func(r SimulatedRequest) bool { return yield(r, nil) })()
		}
		if c.run(); c.failed != nil {
			yield(SimulatedRequest{}, c.failed)
		}
	}
}

// Dry sends the sessions of a source to simulated servers in time that does not pass. It yields each
// request when it ends. The engine is New's, step by step, and each server has the seed that
// Several gives it. Sending takes no time. Without times in the source, sessions start as soon as
// the bounds let them.
//
// The Forecast is complete when the iteration is over. Without a tokenizer, prompts of text are made
// of the words of tokenizer.Stub.
func Dry(cfg Config, source dataset.Source, b Bounds, f *Forecast) iter.Seq2[SimulatedRequest, error] {
	return func(yield func(SimulatedRequest, error) bool) {
		*f = Forecast{}
		cfg.Device.GPU = nil
		d, err := newDry(cfg, b, f)
		if err == nil {
			err = d.run(source, func(r SimulatedRequest) bool { return yield(r, nil) })
		}
		if err != nil {
			yield(SimulatedRequest{}, err)
		}
	}
}

// Enough runs a source dry on more and more servers, from Bounds.Servers on, until they keep up. So
// the cache hits that Forecast.Needs counts are those without long queues. It reads the source once for
// each number of servers that it tries.
func Enough(cfg Config, source dataset.Source, b Bounds, f *Forecast) error {
	for {
		for _, err := range Dry(cfg, source, b, f) {
			if err != nil {
				return err
			}
		}
		if f.Needs <= float64(f.Servers) {
			return nil
		}
		b.Servers = int(math.Ceil(f.Needs))
	}
}

// A dry is a dry run.
type dry struct {
	cfg        Config
	reader     *reader
	vocabulary *words.Vocabulary
	bounds     Bounds
	replicas   []*replica
	forecast   *Forecast
	yield      func(SimulatedRequest) bool
	load       int

	*clock
	waiting [2][]*pending // for one of the requests in flight: later turns, then first turns
	flights map[*steps.Sequence]*pending
	begun   int // sessions
	open    int // of these, not over

	pull func() (*dataset.Conversation, error, bool)
	next *dataset.Conversation // not begun
}

// A clock is the time that dry runs share.
type clock struct {
	now    time.Duration
	agenda agenda
	stop   bool
	failed error
}

// A replica is a server of a dry run.
type replica struct {
	*steps.Engine
	start  time.Duration // of its step
	took   time.Duration // by that step
	asleep bool
}

// A drySession is a session that has begun.
type drySession struct {
	*dataset.Conversation
	number int
	due    time.Duration
	turns  []dryTurn
	said   []json.RawMessage // nil if the recorded answers are sent
	going  int               // turns due and not ended
	ended  bool              // nothing more is sent
}

type dryTurn struct {
	waits int
	ready time.Duration
}

// A pending request has been sent and not answered.
type pending struct {
	SimulatedRequest
	session *drySession
	text    *words.Text // nil if nobody needs it
}

// epoch is the start of a dry run in the engine's time.
var epoch = time.Unix(0, 0)

func newDry(cfg Config, b Bounds, f *Forecast) (*dry, error) {
	cfg.Trace = nil
	if cfg.Tokenizer == nil {
		cfg.Tokenizer = tokenizer.Stub{Size: 32000}
	}
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	b.Servers = max(b.Servers, 1)
	f.Servers = b.Servers
	d := &dry{cfg: cfg, vocabulary: words.New(cfg.Tokenizer), bounds: b, clock: new(clock), forecast: f,
		flights: map[*steps.Sequence]*pending{}}
	d.reader = &reader{&d.cfg}
	for range b.Servers {
		settings := cfg.engineSettings()
		settings.Over, settings.Board = d.landed, nil
		d.replicas = append(d.replicas, &replica{Engine: steps.New(settings), asleep: true})
		cfg.Seed++
	}
	return d, nil
}

func (d *dry) run(source dataset.Source, yield func(SimulatedRequest) bool) error {
	defer d.begin(source, yield)()
	d.clock.run()
	d.forecast.finish(d)
	return d.failed
}

// begin looks at the first session of a source. The func is to be called at the end.
func (d *dry) begin(source dataset.Source, yield func(SimulatedRequest) bool) (stop func()) {
	d.pull, stop = iter.Pull2(iter.Seq2[*dataset.Conversation, error](source))
	d.yield = yield
	d.fetch()
	return stop
}

// run lets everything happen.
func (c *clock) run() {
	for len(c.agenda.list) > 0 && !c.stop && c.failed == nil {
		h := c.agenda.pop()
		c.now = h.at
		h.of.happen(h)
	}
}

// plans puts an event on the agenda.
func (d *dry) plans(h agendaEvent) {
	h.of = d
	d.agenda.push(h)
}

func (d *dry) happen(h agendaEvent) {
	switch {
	case h.seq != nil:
		d.arrive(h.replica, h.seq)
	case h.request != nil:
		d.depart(h.request)
	case h.replica == nil:
		d.room()
	case h.ends:
		d.deliver(h.replica)
	default:
		d.compose(h.replica)
	}
}

// fetch looks at the next session of the source, to begin it when it is due.
func (d *dry) fetch() {
	c, err, ok := d.pull()
	if !ok || err != nil {
		d.next, d.failed = nil, err
		return
	}
	d.next = c
	due := d.now
	if c.Due != nil {
		due = max(due, dataset.Seconds(*c.Due))
	}
	d.plans(agendaEvent{at: due})
}

// room lets those be sent that wait for one of the requests in flight, and begins the next session
// if it is due and the bounds let it.
func (d *dry) room() {
	for rank := range d.waiting {
		for len(d.waiting[rank]) > 0 && len(d.flights) < d.bounds.Concurrency {
			f := d.waiting[rank][0]
			d.waiting[rank] = d.waiting[rank][1:]
			d.depart(f)
		}
	}
	c := d.next
	if c == nil || !d.mayBegin(c) {
		return
	}
	s := &drySession{Conversation: c, number: d.begun, due: d.now, turns: make([]dryTurn, len(c.Turns))}
	if c.Due != nil {
		s.due = dataset.Seconds(*c.Due)
	}
	if d.bounds.Live && c.Remembers() {
		s.said = make([]json.RawMessage, len(c.Turns))
	}
	d.begun++
	d.open++
	d.forecast.offer(s, d.bounds.Absolute)
	for i := range s.turns {
		s.turns[i] = dryTurn{len(c.WaitsOf(i)), s.due}
	}
	for i := range s.turns {
		if s.turns[i].waits == 0 {
			d.plan(s, i)
		}
	}
	d.fetch()
}

// mayBegin reports whether a session is due and the bounds let it begin.
func (d *dry) mayBegin(c *dataset.Conversation) bool {
	return (d.bounds.Sessions <= 0 || d.open < d.bounds.Sessions) && (c.Due == nil || dataset.Seconds(*c.Due) <= d.now)
}

// plan lets a turn whose waits have ended be sent when it is due.
func (d *dry) plan(s *drySession, turn int) {
	if s.ended {
		return
	}
	due := s.dueOf(turn, s.turns[turn].ready, d.bounds.Absolute)
	s.going++
	f := &pending{SimulatedRequest: SimulatedRequest{Session: s.number, Turn: turn, Load: d.load,
		Server: s.number % d.bounds.Servers, Due: due}, session: s}
	d.plans(agendaEvent{at: max(due, d.now), request: f})
}

// dueOf is when a turn is due whose waits ended at an instant.
func (s *drySession) dueOf(turn int, ready time.Duration, absolute bool) time.Duration {
	t := &s.Turns[turn]
	if absolute && t.At != nil && s.Turns[0].At != nil {
		return max(ready, s.due+dataset.Seconds(*t.At-*s.Turns[0].At))
	}
	return ready + dataset.Seconds(t.Gap)
}

// depart sends a request that is due, or lets it wait.
func (d *dry) depart(f *pending) {
	if d.bounds.Concurrency > 0 && len(d.flights) >= d.bounds.Concurrency {
		rank := 0
		if f.Turn == 0 {
			rank = 1
		}
		d.waiting[rank] = append(d.waiting[rank], f)
		return
	}
	seq, err := d.sequence(f)
	if err != nil {
		d.failed = fmt.Errorf("turn %d of session %d: %w", f.Turn, f.Session, err)
		return
	}
	f.Sent = d.now
	if f.Refused {
		f.First, f.End = d.now, d.now
		d.leave(f)
		return
	}
	d.flights[seq] = f
	d.plans(agendaEvent{at: d.now + d.cfg.Profile.FrontEnd, replica: d.replicas[f.Server], seq: seq})
}

// sequence makes the engine's part of a request, or refuses it.
func (d *dry) sequence(f *pending) (*steps.Sequence, error) {
	s := f.session
	t := &s.Turns[f.Turn]
	q := &query{number: int64(d.forecast.Requests + len(d.flights)), chat: true}
	q.ignoreEOS = t.OutputLen > 0 && !d.bounds.Early
	ofBlocks := t.Blocks != nil || t.Tail.Tokens > 0
	if ofBlocks {
		for b := range t.AllBlocks() {
			f.Prompt += int(b.Tokens)
		}
		q.prompt = []int{f.Session, f.Turn} // only to draw the length of the answer, if it has none
	} else if err := d.prompt(q, s, f.Turn); err != nil {
		return nil, err
	} else {
		f.Prompt = len(q.prompt)
	}
	room := d.cfg.Limits.ModelLen - f.Prompt
	if q.maxTokens = cmp.Or(t.OutputLen, room); room < 1 || q.maxTokens > room {
		f.Refused = true
		return nil, nil
	}
	text := d.cfg.text(d.vocabulary, q)
	f.Out = text.Left()
	asked := steps.Request{
		ID: strconv.FormatInt(q.number, 10), Session: s.ID, Number: q.number,
		Prompt: f.Prompt, Want: text.Left(), Finish: reason(text), Read: d.bounds.Chunks,
	}
	if d.cfg.Speculative.Tokens > 0 {
		asked.Chance = rand.New(rand.NewPCG(d.cfg.Seed, text.Draw()))
	}
	switch {
	case !d.cfg.Cache.Prefixes:
	case ofBlocks:
		asked.Blocks = dryHashes(t, kvcache.Chain(0).Add(uint64(f.Session)).Add(uint64(f.Turn)), f.Prompt, f.Out)
	default:
		asked.Blocks = kvcache.Hashes(q.prompt, text.IDs(markEnd))
	}
	if s.said != nil {
		f.text = text
	}
	return steps.NewSequence(asked), nil
}

// prompt encodes a prompt of text, messages or token ids.
func (d *dry) prompt(q *query, s *drySession, i int) error {
	t, err := s.Prompted(i, s.said)
	if err != nil {
		return err
	}
	var b body
	switch {
	case t.Messages != nil:
		if err := json.Unmarshal(t.Messages, &b.Messages); err != nil {
			return fmt.Errorf("its messages: %w", err)
		}
		if p := d.reader.readChat(q, &b); p != nil {
			return errors.New(p.Message)
		}
		return nil
	case t.TokenIDs != nil:
		q.prompt = t.TokenIDs
	default:
		q.prompt = d.cfg.Tokenizer.Encode(t.Prompt, true)
	}
	if q.chat = false; len(q.prompt) == 0 {
		return errors.New("the prompt must hold a token")
	}
	return nil
}

// dryHashes names the blocks of a prompt of blocks and of an output that is in no other request.
func dryHashes(t *dataset.Turn, output kvcache.Chain, prompt, out int) []uint64 {
	hashes := make([]uint64, 0, (prompt+out)/kvcache.BlockSize)
	h, filled := kvcache.Chain(0), 0
	add := func(id uint64, tokens int) {
		whole := uint64(kvcache.Chain(id).Add(uint64(tokens)))
		for done := 0; done < tokens; {
			part := min(kvcache.BlockSize-filled, tokens-done)
			h = h.Add(whole + uint64(done*kvcache.BlockSize+part))
			done += part
			if filled += part; filled == kvcache.BlockSize {
				hashes = append(hashes, uint64(h))
				filled = 0
			}
		}
	}
	for b := range t.AllBlocks() {
		add(b.ID, int(b.Tokens))
	}
	add(uint64(output), out)
	return hashes
}

// landed takes a request that has left its engine.
func (d *dry) landed(seq *steps.Sequence) {
	f := d.flights[seq]
	delete(d.flights, seq)
	f.Found, f.First, f.End = seq.Found(), seq.FirstToken().Sub(epoch), seq.LastToken().Sub(epoch)
	if d.bounds.Chunks {
		for _, o := range seq.Outputs() {
			f.Chunks = append(f.Chunks, Chunk{o.Tokens, o.At.Sub(epoch)})
		}
	}
	if s := f.session; s.said != nil {
		s.said[f.Turn] = mustJSON(struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}{"assistant", string(f.text.Append(nil, f.text.Left()))})
	}
	d.leave(f)
}

// leave ends a request, and lets those be sent that waited for it.
func (d *dry) leave(f *pending) {
	d.forecast.add(f)
	d.stop = d.stop || !d.yield(f.SimulatedRequest)
	s := f.session
	s.ended = s.ended || f.Refused
	for i := f.Turn + 1; i < len(s.Turns); i++ {
		for _, w := range s.WaitsOf(i) {
			if w.Turn != f.Turn {
				continue
			}
			t := &s.turns[i]
			t.ready = max(t.ready, f.End)
			if t.waits--; t.waits == 0 {
				d.plan(s, i)
			}
		}
	}
	if s.going--; s.going == 0 {
		d.open--
	}
	if s.going == 0 || d.bounds.Concurrency > 0 {
		d.plans(agendaEvent{at: d.now}) // after the turns that are due now
	}
}

// arrive hands a request to its engine.
func (d *dry) arrive(r *replica, seq *steps.Sequence) {
	r.Submit(seq, epoch.Add(d.now))
	if r.asleep {
		r.asleep, r.start = false, d.now
		r.Work()
		d.plans(agendaEvent{at: r.start + speed.Gather, replica: r})
	}
}

// compose begins a step, as the engine's run does.
func (d *dry) compose(r *replica) {
	b := r.Compose(epoch.Add(d.now))
	if b == (speed.Batch{}) {
		r.start = d.now
		d.goOn(r)
		return
	}
	r.took = r.Took(b, epoch.Add(r.start))
	d.forecast.work(b, r.took)
	d.plans(agendaEvent{at: r.start + r.took, replica: r, ends: true})
}

func (d *dry) deliver(r *replica) {
	r.Deliver(epoch.Add(d.now))
	r.start += r.took
	d.goOn(r)
}

func (d *dry) goOn(r *replica) {
	if r.Idle() {
		r.asleep = true
		r.Rest()
		return
	}
	d.plans(agendaEvent{at: r.start + speed.Gather, replica: r})
}
