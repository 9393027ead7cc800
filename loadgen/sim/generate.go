package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/sim/spans"
)

// completions answers POST /v1/completions.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) { s.generate(w, r, false) }

// chatCompletions answers POST /v1/chat/completions.
func (s *Server) chatCompletions(w http.ResponseWriter, r *http.Request) { s.generate(w, r, true) }

func (s *Server) generate(w http.ResponseWriter, r *http.Request, chat bool) {
	number := s.number(r)
	q, p := s.understand(r, chat)
	faults, wrong := s.choose(r, number)
	if wrong != nil {
		wrong.write(w)
		return
	}
	if s.misreply(w, r, faults) {
		return
	}
	if p != nil {
		p.write(w)
		return
	}
	if s.engine.nap.Bare() {
		newProblem(http.StatusInternalServerError, "the weights were dropped by sleep level 2 and not loaded again").write(w)
		return
	}
	q.number = number
	if !s.greet(r, q) {
		panic(http.ErrAbortHandler)
	}
	a := newReply(&s.cfg, s.vocabulary, r, q, faults)
	seq := newSequence(&s.cfg, a, r)
	if s.cfg.Speculative.Tokens > 0 {
		seq.drafts = rand.New(rand.NewPCG(s.cfg.Seed, a.text.rand.Uint64()))
	}
	if s.cfg.PrefixCaching {
		seq.blocks = blockHashes(q.prompt, a.text.ids())
	}
	if !s.engine.submit(seq, time.Now()) {
		newProblem(http.StatusServiceUnavailable, "the server is closed").write(w)
		return
	}
	defer s.engine.cancel(seq)
	answer := s.whole
	if q.stream {
		answer = s.stream
	}
	if wrote := answer(w, r, a, seq); wrote.complete && s.cfg.Log != nil {
		s.cfg.Log(s.request(q, seq, wrote))
	}
}

// request is the truth about a request that has been answered.
func (s *Server) request(q *query, seq *sequence, wrote written) spans.Request {
	network := s.cfg.Slow.Network
	return spans.Request{
		ID: seq.id, Received: q.received, Queued: seq.arrived, Scheduled: seq.scheduled(), FirstToken: seq.firstToken(),
		Wrote: wrote.first.Add(-network), LastToken: seq.lastToken(), LastWrote: wrote.last.Add(-network),
		Ended:   time.Now().Add(-network),
		Network: network, In: seq.prompt, Out: seq.out, Finish: seq.finish, Whole: !q.stream,
	}
}

// greet spends the front end's time on a request; false means that the client has gone or the
// server closes.
func (s *Server) greet(r *http.Request, q *query) bool {
	return s.wait(r, q.received.Add(s.cfg.Profile.FrontEnd+s.cfg.Slow.FrontEnd))
}

// wait waits until an instant; false means that the client has gone or the server closes.
func (s *Server) wait(r *http.Request, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return true
	}
	ready := time.NewTimer(left)
	defer ready.Stop()
	select {
	case <-ready.C:
		return true
	case <-r.Context().Done():
	case <-s.engine.quit:
	}
	return false
}

// misreply replies as a fault demands, if one replaces the whole reply.
func (s *Server) misreply(w http.ResponseWriter, r *http.Request, m misdeeds) bool {
	if m.has("refuse") {
		panic(http.ErrAbortHandler)
	}
	if m.has("never") {
		select {
		case <-r.Context().Done():
		case <-s.engine.quit:
		}
		panic(http.ErrAbortHandler)
	}
	if code, chosen := m.with("status"); chosen {
		if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		newProblem(code, http.StatusText(code)+" (simulated)").write(w)
		return true
	}
	if code, chosen := m.with("html"); chosen {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		title := fmt.Sprintf("%d %s", code, http.StatusText(code))
		io.WriteString(w, "<html>\r\n<head><title>"+title+"</title></head>\r\n<body>\r\n<center><h1>"+title+
			"</h1></center>\r\n</body>\r\n</html>\r\n")
		return true
	}
	if code, chosen := m.with("blank"); chosen {
		w.WriteHeader(code)
		return true
	}
	return false
}

// stream answers token by token: the tokens of a step are a chunk. All that is due at one instant
// goes into one write.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, a *reply, seq *sequence) written {
	ev := newEvents(r.Context(), w, a.faults, s.engine.quit)
	ev.open()
	if a.faults.has("empty") {
		return ev.wrote
	}
	size, _ := a.faults.with("tokens")
	held := 0 // tokens for the next chunk
	var steps []output
	ended := ""
	for ; ended == "" && !ev.over; ev.send() {
		var err error
		if steps, ended, err = seq.next(r.Context(), steps); err != nil || ended == finishAbort {
			panic(http.ErrAbortHandler)
		}
		a.found = seq.found
		for i, step := range steps {
			last := ended != "" && i == len(steps)-1
			if held += step.tokens; held < size && !last {
				continue
			}
			s.delay(ev, r, seq, step.at, a.out+held)
			if a.query.chat && a.out == 0 {
				ev.chunk(a.role())
			}
			ev.chunk(a.tokens(held))
			held = 0
		}
		if ended != "" {
			s.end(ev, a, seq)
		}
	}
	ev.write()
	ev.wrote.complete = ended != ""
	return ev.wrote
}

// delay waits until the tokens up to number n, of a step that ended at an instant, are to leave. That is
// at once unless time is added.
func (s *Server) delay(ev *events, r *http.Request, seq *sequence, at time.Time, n int) {
	if s.cfg.Slow == (spans.Added{}) {
		return
	}
	due := at.Add(s.cfg.Slow.Token(n-1, seq.want) + s.cfg.Slow.Network)
	if time.Now().Before(due) {
		ev.send()
	}
	if !s.wait(r, due) {
		panic(http.ErrAbortHandler)
	}
}

// end adds what follows the last token.
func (s *Server) end(ev *events, a *reply, seq *sequence) {
	if a.query.usage && !a.faults.has("usage-in-finish") {
		ev.add(a.usage(s.timings(seq)))
	}
	if !a.faults.has("no-done") {
		ev.add([]byte("[DONE]"))
	}
}

// timings is what an answer says about the engine's times; nil for nothing.
func (s *Server) timings(seq *sequence) *timings {
	if !s.cfg.PerRequestMetrics {
		return nil
	}
	return newTimings(seq)
}

// whole answers after everything has been generated.
func (s *Server) whole(w http.ResponseWriter, r *http.Request, a *reply, seq *sequence) written {
	for ended := ""; ended == ""; {
		var err error
		if _, ended, err = seq.next(r.Context(), nil); err != nil || ended == finishAbort {
			panic(http.ErrAbortHandler)
		}
	}
	a.found = seq.found
	if !s.wait(r, seq.lastToken().Add(s.cfg.Slow.Network)) {
		panic(http.ErrAbortHandler)
	}
	now := time.Now()
	writeJSON(w, http.StatusOK, a.whole(s.timings(seq)))
	return written{now, now, true}
}
