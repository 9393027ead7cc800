package loadgen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// A trial is a load on a simulated server, both ends of it the real net/http,
// in fake time.
type trial struct {
	server   sim.Config
	chat     bool
	num      int
	in, out  int
	ratio    dataset.RangeRatio
	arrivals arrivals.Process
	limit    int                             // concurrency
	warmUp   time.Duration                   // how long the same kind of load goes before
	through  func(dialer) dialer             // what lies between client and server; nil for nothing
	gateway  func(http.Handler) http.Handler // a gateway before the server; nil for none
	count    func(text string) int           // the client's own tokenizer; nil for none

	watch func(d dialer, epoch time.Time) (stop func()) // while the load lasts; nil for nobody
}

// A dialer opens a connection.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// run gives the records in dataset order, what the server did by request id, and
// how long it all took.
func (tr trial) run(t *testing.T) (records []*record.Record, traces map[string]steps.Trace, epoch time.Time, took time.Duration) {
	t.Helper()
	var mu sync.Mutex
	traces = map[string]steps.Trace{}
	tr.server.Tokenizer = tokenizer.Stub{Size: 32000}
	tr.server.Trace = func(x steps.Trace) {
		mu.Lock()
		defer mu.Unlock()
		traces[x.ID] = x
	}
	dial, end := tr.serve(t)
	defer end()
	transport := wire.Connections{Limit: tr.limit, Dial: dial}.Transport()
	defer transport.CloseIdleConnections()

	load := tr.load(t, transport)
	stop := func() {}
	run := engine.Run{Loads: []engine.Load{load}, Wait: engine.Sleep, Started: func(at time.Time) {
		if epoch = at; tr.watch != nil {
			stop = tr.watch(dial, at)
		}
	}}
	for rec, err := range run.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, rec)
	}
	took = time.Since(epoch)
	stop()
	slices.SortFunc(records, func(a, b *record.Record) int { return a.Index - b.Index })
	return records, traces, epoch, took
}

// serve starts the trial's server.
func (tr trial) serve(t *testing.T) (dial dialer, end func()) {
	t.Helper()
	server, err := sim.New(tr.server)
	if err != nil {
		t.Fatal(err)
	}
	listener := pipe.Listen()
	var handler http.Handler = server
	if tr.gateway != nil {
		handler = tr.gateway(server)
	}
	web := &http.Server{Handler: handler}
	go web.Serve(listener)
	dial = listener.Dial
	if tr.through != nil {
		dial = tr.through(dial)
	}
	return dial, func() {
		web.Close()
		server.Close()
	}
}

func (tr trial) load(t *testing.T, transport http.RoundTripper) engine.Load {
	t.Helper()
	source, n, err := dataset.Random{
		Options:  dataset.Options{Tokenizer: tokenizer.Stub{Size: 32000}, Num: tr.num, IDPrefix: "r-"},
		InputLen: tr.in, OutputLen: tr.out, Ratio: tr.ratio,
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := tr.arrivals.Schedule(n)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, form, protocol := "http://sim/v1/completions", completions.Form, completions.Protocol
	if tr.chat {
		endpoint, form, protocol = "http://sim/v1/chat/completions", chat.Form, chat.Protocol
	}
	sender := &exchange.Endpoint{URL: endpoint, Header: exchange.Headers("", nil), Protocol: protocol, Transport: transport,
		Timeouts: wire.Timeouts{Stall: time.Minute, Total: time.Hour}}
	body := request.Body{Model: "stub-32000", Form: form, IgnoreEOS: true}
	encode := func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*engine.Request, error) {
		text, err := body.Encode(&c.Turns[turn])
		return &engine.Request{ID: c.ID, Body: text}, err
	}
	load := engine.Load{Source: source, Schedule: schedule, Concurrency: tr.limit, Target: engine.Target{Encode: encode, Send: sender.Send, Count: tr.count}}
	if tr.warmUp > 0 {
		load.WarmUp = tr.before(t)
	}
	return load
}

// before is the warm-up of the trial: other prompts at the same rate, enough for ten
// times as long.
func (tr trial) before(t *testing.T) engine.WarmUp {
	t.Helper()
	source, n, err := dataset.Random{
		Options:  dataset.Options{Tokenizer: tokenizer.Stub{Size: 32000}, Num: 10 * tr.num, Seed: 99, IDPrefix: "w-"},
		InputLen: tr.in, OutputLen: tr.out, Ratio: tr.ratio,
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	a := tr.arrivals
	a.Seed += 99
	if a.Curve != nil {
		a.Rate, a.Curve = a.Curve.Beginning(), nil
	}
	schedule, err := a.Schedule(n)
	if err != nil {
		t.Fatal(err)
	}
	return engine.WarmUp{Lasts: tr.warmUp, Source: source, Schedule: schedule}
}

func TestLatenciesEqualWhatTheServerDid(t *testing.T) {
	cost := speed.Cost{Base: 10 * time.Millisecond, PerSequence: 3 * time.Microsecond, PerPromptToken: 7 * time.Microsecond}
	atOnce := arrivals.Process{Rate: math.Inf(1), Burstiness: 1}
	varied := dataset.RangeRatio{Input: 0.5, Output: 0.5}
	for _, test := range []struct {
		name string
		trial
	}{
		{"all at once", trial{num: 20, in: 50, out: 10, arrivals: atOnce}},
		{"closed loop of four", trial{num: 21, in: 50, out: 10, ratio: varied, arrivals: atOnce, limit: 4}},
		{"Poisson", trial{num: 40, in: 100, out: 16, ratio: varied, arrivals: arrivals.Process{Rate: 30, Burstiness: 1, Seed: 7}}},
		{"Poisson with a limit", trial{num: 40, in: 100, out: 16, arrivals: arrivals.Process{Rate: 80, Burstiness: 0.5}, limit: 3}},
		{"chat", trial{num: 12, in: 30, out: 5, chat: true, arrivals: arrivals.Process{Rate: 50, Burstiness: math.Inf(1)}}},
		{"queueing at the server", trial{num: 20, in: 30, out: 5, arrivals: atOnce, server: sim.Config{Limits: sim.Limits{NumSeqs: 3}}}},
		{"prompts over the step's budget", trial{num: 6, in: 900, out: 5, arrivals: atOnce, server: sim.Config{Limits: sim.Limits{NumSeqs: 16, NumBatchedTokens: 256}}}},
		{"one output token", trial{num: 6, in: 9, out: 1, arrivals: atOnce}},
		{"jitter", trial{num: 30, in: 90, out: 20, arrivals: atOnce, server: sim.Config{Jitter: 0.3, Seed: 3}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.server.Cost = cost
				records, traces, epoch, took := test.run(t)
				if len(records) != test.num {
					t.Fatalf("%d records, want %d", len(records), test.num)
				}
				last := time.Duration(0)
				for _, rec := range records {
					trace, ok := traces[rec.ID]
					if !ok {
						t.Fatalf("the server never saw %s: %s %s", rec.ID, rec.Result.Class, rec.Result.Error)
					}
					checkAgainst(t, rec, trace, epoch)
					last = max(last, trace.Finished.Sub(epoch))
				}
				checkQueue(t, records, test.limit)
				if took != last {
					t.Errorf("the run took %v; the server finished after %v", took, last)
				}
			})
		})
	}
}

// checkAgainst compares one request as the client and as the server saw it.
func checkAgainst(t *testing.T, rec *record.Record, trace steps.Trace, epoch time.Time) {
	t.Helper()
	tokens := make([]time.Duration, len(trace.Tokens))
	for i, at := range trace.Tokens {
		tokens[i] = at.Sub(epoch)
	}
	chunks := cameAt(rec)
	if len(chunks) == len(tokens)+1 { // chat: the role comes with the first token
		if chunks[0] != chunks[1] {
			t.Errorf("%s: role at %v, first token at %v", rec.ID, chunks[0], chunks[1])
		}
		chunks = chunks[1:]
	}
	if !slices.Equal(chunks, tokens) {
		t.Errorf("%s: chunks at %v, tokens at %v", rec.ID, chunks, tokens)
		return
	}
	arrived, n := trace.Arrived.Sub(epoch), len(tokens)
	if rec.Result.Class != record.OK || rec.Times.Sent != arrived || rec.Lag() != 0 || rec.Times.Wrote != arrived {
		t.Errorf("%s: %q, sent %v, wrote %v, lag %v; the server got it at %v", rec.ID, rec.Result.Class, rec.Times.Sent, rec.Times.Wrote, rec.Lag(), arrived)
	}
	if got, want := rec.TTFT(), tokens[0]-arrived; got != want || rec.Times.FirstContent != tokens[0] {
		t.Errorf("%s: TTFT %v, first content %v, want %v", rec.ID, got, rec.Times.FirstContent, want)
	}
	if got, want := rec.E2EL(), tokens[n-1]-arrived; got != want || rec.Times.End != tokens[n-1] {
		t.Errorf("%s: E2EL %v, end %v, want %v", rec.ID, got, rec.Times.End, want)
	}
	if want := (tokens[n-1] - tokens[0]) / time.Duration(max(n-1, 1)); rec.TPOT() != want {
		t.Errorf("%s: TPOT %v, want %v", rec.ID, rec.TPOT(), want)
	}
	if rec.Tokens.Out != n || rec.Tokens.OutAsked != n || rec.Tokens.In != trace.PromptTokens || rec.Answer.Finish != "length" {
		t.Errorf("%s: %d tokens of %d, prompt %d, finish %q; server: %d, prompt %d", rec.ID, rec.Tokens.Out, rec.Tokens.OutAsked, rec.Tokens.In, rec.Answer.Finish, n, trace.PromptTokens)
	}
}

// checkQueue recomputes when each request got its slot from when the ones before
// it were due and when earlier ones ended.
func checkQueue(t *testing.T, records []*record.Record, limit int) {
	t.Helper()
	var ends []time.Duration
	for i, rec := range records {
		want := rec.Times.Due
		if limit > 0 && i >= limit {
			slices.Sort(ends)
			want = max(want, ends[i-limit])
		}
		if rec.Times.Slot != want || rec.Queue() != want-rec.Times.Due {
			t.Errorf("%s: slot at %v, queue %v, want %v, %v", rec.ID, rec.Times.Slot, rec.Queue(), want, want-rec.Times.Due)
		}
		ends = append(ends, rec.Times.End)
	}
}

// A run is as reproducible as its seed: two give the same block.
func TestRunsOfOneSeedAreEqual(t *testing.T) {
	var seen []string
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			records, _, _, took := trial{num: 30, in: 40, out: 8, arrivals: arrivals.Process{Rate: 40, Burstiness: 1}, limit: 5}.run(t)
			text := fmt.Sprint(took)
			for _, rec := range records {
				text += fmt.Sprint(rec.ID, rec.Times.Due, rec.Times.Slot, rec.Times.Sent, cameAt(rec), rec.Times.End)
			}
			seen = append(seen, text)
		})
	}
	if seen[0] != seen[1] {
		t.Errorf("two runs differ:\n%s\n%s", seen[0], seen[1])
	}
}

// cameAt are the times at which the chunks of a request came.
func cameAt(r *record.Record) []time.Duration {
	at := r.Answer.Chunks.First()
	all := []time.Duration{at}
	for gap := range r.Answer.Chunks.Gaps() {
		at += gap
		all = append(all, at)
	}
	return all
}
