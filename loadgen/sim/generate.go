package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
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
	q.number = number
	if !s.greet(r) {
		panic(http.ErrAbortHandler)
	}
	a := newReply(&s.cfg, s.vocabulary, r, q, faults)
	seq := newSequence(a, r)
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
	if q.stream {
		s.stream(w, r, a, seq)
	} else {
		s.whole(w, r, a, seq)
	}
}

// greet spends the front end's time on a request; false means that the client has gone or the
// server closes.
func (s *Server) greet(r *http.Request) bool {
	if s.cfg.Profile.FrontEnd == 0 {
		return true
	}
	ready := time.NewTimer(s.cfg.Profile.FrontEnd)
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
		io.WriteString(w, "<html>\r\n<head><title>"+title+"</title></head>\r\n<body>\r\n<center><h1>"+title+"</h1></center>\r\n</body>\r\n</html>\r\n")
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
func (s *Server) stream(w http.ResponseWriter, r *http.Request, a *reply, seq *sequence) {
	ev := newEvents(r.Context(), w, a.faults, s.engine.quit)
	ev.open()
	if a.faults.has("empty") {
		return
	}
	size, _ := a.faults.with("tokens")
	held := 0 // tokens for the next chunk
	var steps []int
	for ended := ""; ended == "" && !ev.over; ev.send() {
		var err error
		if steps, ended, err = seq.next(r.Context(), steps); err != nil || ended == finishAbort {
			panic(http.ErrAbortHandler)
		}
		a.found = seq.found
		for i, n := range steps {
			last := ended != "" && i == len(steps)-1
			if held += n; held < size && !last {
				continue
			}
			if a.query.chat && a.out == 0 {
				ev.chunk(a.role())
			}
			ev.chunk(a.tokens(held))
			held = 0
		}
		if ended != "" {
			s.end(ev, a)
		}
	}
	ev.write()
}

// end adds what follows the last token.
func (s *Server) end(ev *events, a *reply) {
	if a.query.usage && !a.faults.has("usage-in-finish") {
		ev.add(a.usage())
	}
	if !a.faults.has("no-done") {
		ev.add([]byte("[DONE]"))
	}
}

// whole answers after everything has been generated.
func (s *Server) whole(w http.ResponseWriter, r *http.Request, a *reply, seq *sequence) {
	for ended := ""; ended == ""; {
		var err error
		if _, ended, err = seq.next(r.Context(), nil); err != nil || ended == finishAbort {
			panic(http.ErrAbortHandler)
		}
	}
	a.found = seq.found
	writeJSON(w, http.StatusOK, a.whole())
}
