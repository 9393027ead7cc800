package sim

import (
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// A delivery is the answer to one request on its way from the engine to the client.
type delivery struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	query  *query
	reply  *reply
	seq    *steps.Sequence
}

// make answers the request, and logs it if its answer is complete.
func (d *delivery) make() {
	answer := d.whole
	if d.query.stream {
		answer = d.stream
	}
	if wrote, log := answer(), d.server.cfg.Log; wrote.complete && log != nil {
		log(d.request(wrote))
	}
}

// request is the truth about the request when it has been answered.
func (d *delivery) request(wrote written) spans.Request {
	network, seq := d.server.cfg.Slow.Network, d.seq
	return spans.Request{
		ID: seq.ID, Received: d.query.received, Queued: seq.Arrived(), Scheduled: seq.Scheduled(),
		FirstToken: seq.FirstToken(), Wrote: wrote.first.Add(-network), LastToken: seq.LastToken(),
		LastWrote: wrote.last.Add(-network), Ended: time.Now().Add(-network),
		Network: network, In: seq.Prompt, Out: seq.Out(), Finish: seq.Finish, Whole: !d.query.stream,
	}
}

// stream answers token by token: the tokens of a step are a chunk. All that is due at one instant
// goes into one write.
func (d *delivery) stream() written {
	a := d.reply
	ev := newEvents(d.r.Context(), d.w, a.faults, d.server.engine.Closed())
	ev.open()
	if a.faults.Has("empty") {
		return ev.wrote
	}
	size, _ := a.faults.With("tokens")
	held := 0 // tokens for the next chunk
	var outputs []steps.Output
	ended := ""
	for ; ended == "" && !ev.over; ev.send() {
		outputs, ended = d.next(outputs)
		for i, step := range outputs {
			last := ended != "" && i == len(outputs)-1
			if held += step.Tokens; held < size && !last {
				continue
			}
			d.delay(ev, step.At, a.out+held)
			if a.query.chat && a.out == 0 {
				ev.chunk(a.role())
			}
			ev.chunk(a.tokens(held))
			held = 0
		}
		if ended != "" {
			d.end(ev)
		}
	}
	ev.write()
	ev.wrote.complete = ended != ""
	return ev.wrote
}

// next waits for tokens, in buf's memory, and says why the sequence has ended, empty if it has not. It ends
// the handler if the client has gone or the engine has aborted the request.
func (d *delivery) next(buf []steps.Output) (outputs []steps.Output, ended string) {
	outputs, ended, err := d.seq.Next(d.r.Context(), buf)
	if err != nil || ended == steps.Abort {
		panic(http.ErrAbortHandler)
	}
	d.reply.found = d.seq.Found()
	return outputs, ended
}

// delay waits until the tokens up to number n, of a step that ended at an instant, are to leave. That is
// at once unless time is added.
func (d *delivery) delay(ev *events, at time.Time, n int) {
	slow := &d.server.cfg.Slow
	if *slow == (spans.Added{}) {
		return
	}
	due := at.Add(slow.Token(n-1, d.seq.Want) + slow.Network)
	if time.Now().Before(due) {
		ev.send()
	}
	d.wait(due)
}

// wait waits until an instant. It ends the handler if the client has gone or the server closes.
func (d *delivery) wait(until time.Time) {
	if !d.server.engine.Wait(d.r.Context(), until) {
		panic(http.ErrAbortHandler)
	}
}

// end adds what follows the last token.
func (d *delivery) end(ev *events) {
	if d.query.usage && !d.reply.faults.Has("usage-in-finish") {
		ev.add(d.reply.usage(d.timings()))
	}
	if !d.reply.faults.Has("no-done") {
		ev.add([]byte("[DONE]"))
	}
}

// timings is what an answer says about the engine's times; nil for nothing.
func (d *delivery) timings() *timings {
	if !d.server.cfg.Answers.Timings {
		return nil
	}
	return newTimings(d.seq)
}

// whole answers after everything has been generated.
func (d *delivery) whole() written {
	for ended := ""; ended == ""; {
		_, ended = d.next(nil)
	}
	d.wait(d.seq.LastToken().Add(d.server.cfg.Slow.Network))
	now := time.Now()
	writeJSON(d.w, http.StatusOK, d.reply.whole(d.timings()))
	return written{now, now, true}
}
