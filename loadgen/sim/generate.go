package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// A numbering numbers requests, so that what depends on the number does not depend on the order in which
// requests arrive.
type numbering struct {
	seen atomic.Int64 // requests without a number so far
}

// of is the number at the end of a request's x-request-id. Requests without one are counted.
func (n *numbering) of(r *http.Request) int64 {
	number := steps.Number(r.Header.Get("X-Request-Id"))
	if number < 0 {
		number = n.seen.Add(1) - 1
	}
	return number
}

// completions answers POST /v1/completions.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) { s.generate(w, r, false) }

// chatCompletions answers POST /v1/chat/completions.
func (s *Server) chatCompletions(w http.ResponseWriter, r *http.Request) { s.generate(w, r, true) }

func (s *Server) generate(w http.ResponseWriter, r *http.Request, chat bool) {
	number := s.numbers.of(r)
	q, p := s.reader.understand(r, chat)
	chosen, err := s.cfg.Faults.Choose(r.Header.Get(faults.Header), s.cfg.Seed, number)
	if err != nil {
		badRequest(faults.Header, "%v", err).write(w)
		return
	}
	if s.misreply(w, r, chosen) {
		return
	}
	if p != nil {
		p.write(w)
		return
	}
	if s.nap.Bare() {
		newProblem(http.StatusInternalServerError, "the weights were dropped by sleep level 2 and not loaded again").write(w)
		return
	}
	q.number = number
	if !s.greet(r, q) {
		panic(http.ErrAbortHandler)
	}
	a := newReply(&s.cfg, s.vocabulary, r, q, chosen)
	seq := steps.NewSequence(s.request(r, a))
	if !s.engine.Submit(seq, time.Now()) {
		newProblem(http.StatusServiceUnavailable, "the server is closed").write(w)
		return
	}
	defer s.engine.Cancel(seq)
	(&delivery{server: s, w: w, r: r, query: q, reply: a, seq: seq}).make()
}

// request is what the engine is asked for.
func (s *Server) request(r *http.Request, a *reply) steps.Request {
	asked := steps.Request{
		ID: r.Header.Get("X-Request-Id"), Session: r.Header.Get("X-Session-Id"), Number: a.query.number,
		Prompt: len(a.query.prompt), Want: a.text.Left(), Finish: reason(a.text), Added: s.cfg.Slow, Read: true,
	}
	if s.cfg.Speculative.Tokens > 0 {
		asked.Chance = rand.New(rand.NewPCG(s.cfg.Seed, a.text.Draw()))
	}
	if s.cfg.Cache.Prefixes {
		asked.Blocks = kvcache.Hashes(a.query.prompt, a.text.IDs(markEnd))
	}
	return asked
}

// greet spends the front end's time on a request; false means that the client has gone or the
// server closes.
func (s *Server) greet(r *http.Request, q *query) bool {
	return s.engine.Wait(r.Context(), q.received.Add(s.cfg.Profile.FrontEnd+s.cfg.Slow.FrontEnd))
}

// misreply replies as a fault demands, if one replaces the whole reply.
func (s *Server) misreply(w http.ResponseWriter, r *http.Request, c faults.Choice) bool {
	if c.Has("refuse") {
		panic(http.ErrAbortHandler)
	}
	if c.Has("never") {
		select {
		case <-r.Context().Done():
		case <-s.engine.Closed():
		}
		panic(http.ErrAbortHandler)
	}
	if code, chosen := c.With("status"); chosen {
		if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		newProblem(code, http.StatusText(code)+" (simulated)").write(w)
		return true
	}
	if code, chosen := c.With("html"); chosen {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		title := fmt.Sprintf("%d %s", code, http.StatusText(code))
		io.WriteString(w, "<html>\r\n<head><title>"+title+"</title></head>\r\n<body>\r\n<center><h1>"+title+
			"</h1></center>\r\n</body>\r\n</html>\r\n")
		return true
	}
	if code, chosen := c.With("blank"); chosen {
		w.WriteHeader(code)
		return true
	}
	return false
}
