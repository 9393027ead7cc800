package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// source is a dataset of these sessions.
func source(all ...*dataset.Conversation) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// dried runs sessions dry and returns the requests by session and turn.
func dried(t *testing.T, cfg Config, b Bounds, all ...*dataset.Conversation) (requests map[[2]int]SimulatedRequest, f Forecast) {
	t.Helper()
	requests = map[[2]int]SimulatedRequest{}
	for r, err := range Dry(cfg, source(all...), b, &f) {
		if err != nil {
			t.Fatal(err)
		}
		key := [2]int{r.Session, r.Turn}
		if _, twice := requests[key]; twice {
			t.Errorf("%v came twice", key)
		}
		requests[key] = r
	}
	return requests, f
}

func TestADryRunIsAsTheServerIs(t *testing.T) {
	const num = 120
	random := rand.New(rand.NewPCG(7, 7))
	var sessions []*dataset.Conversation
	at := 0.0
	for range num {
		at += float64(time.Duration(random.ExpFloat64()*4e6)) / 1e9
		turn := dataset.Turn{OutputLen: 1 + random.IntN(40)}
		for i := range 1 + random.IntN(400) {
			turn.TokenIDs = append(turn.TokenIDs, i+random.IntN(1+i/50))
		}
		sessions = append(sessions, &dataset.Conversation{Due: new(at), Turns: []dataset.Turn{turn}})
	}
	profile := &speed.Profile{FrontEnd: 3 * time.Millisecond, Stalls: speed.Stalls{Probability: .01, Mean: time.Second / 10}}
	profile.Step = speed.StepTime{Cost: testCost, Attention: 10, Context: 20, Jitter: .1, Overlap: .5}
	cfg := Config{
		Profile: profile, Seed: 3, Speculative: steps.Speculative{Tokens: 2, Acceptance: .6},
		Cache: Cache{Prefixes: true, Blocks: 120}, Limits: Limits{NumSeqs: 20, NumBatchedTokens: 300, ModelLen: 600},
	}
	got, f := dried(t, cfg, Bounds{}, sessions...)
	bubble(t, cfg, func(h *harness) {
		start := time.Now()
		var wg sync.WaitGroup
		for i, c := range sessions {
			wg.Go(func() {
				time.Sleep(dataset.Seconds(*c.Due))
				h.stream("/v1/completions", fmt.Sprint(i), string(mustJSON(map[string]any{
					"prompt": c.Turns[0].TokenIDs, "max_tokens": c.Turns[0].OutputLen, "ignore_eos": true, "stream": true,
				})))
			})
		}
		wg.Wait()
		for i, c := range sessions {
			tr, r := h.trace(fmt.Sprint(i)), got[[2]int{i, 0}]
			want := SimulatedRequest{
				Session: i, Prompt: tr.PromptTokens, Found: tr.Found, Out: len(tr.Tokens),
				Due: dataset.Seconds(*c.Due), Sent: dataset.Seconds(*c.Due), First: tr.Tokens[0].Sub(start), End: tr.Finished.Sub(start),
			}
			if !reflect.DeepEqual(r, want) {
				t.Errorf("request %d: %+v, want %+v", i, r, want)
			}
		}
		if n := h.engine.Preemptions(); f.Preempted != n || n == 0 || f.Found == 0 {
			t.Errorf("%d preemptions, want %d; %d tokens found", f.Preempted, n, f.Found)
		}
	})
}

// plainTurn is a turn of its own tokens.
func plainTurn(id uint64, prompt, out int, gap float64, waits ...dataset.Wait) dataset.Turn {
	return dataset.Turn{Blocks: []dataset.Block{{ID: id, Tokens: int32(prompt)}}, OutputLen: out, Gap: gap, Waits: waits}
}

func TestADryRunKeepsGapsJoinsAndTimes(t *testing.T) {
	after := func(turn int) dataset.Wait { return dataset.Wait{Turn: turn} }
	at := func(turn dataset.Turn, at float64) dataset.Turn {
		turn.At = &at
		return turn
	}
	tree := &dataset.Conversation{Due: new(1.0), Turns: []dataset.Turn{
		at(plainTurn(1, 100, 3, 0), 7),
		at(plainTurn(2, 200, 1, .5, after(0)), 7.1),
		at(plainTurn(3, 10, 60, .25, after(0)), 7.1),
		at(plainTurn(4, 50, 1, 2, after(1), after(2)), 9),
	}}
	later := &dataset.Conversation{Due: new(10.0), Turns: []dataset.Turn{plainTurn(5, 1, 1, 0)}}
	cfg := Config{Cost: testCost}
	first := time.Second + stepOf(testCost, 0, 100)
	end := first + 2*stepOf(testCost, 1, 0)
	check := func(name string, got, want time.Duration) {
		t.Helper()
		if got != want {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	got, f := dried(t, cfg, Bounds{}, tree, later)
	check("first token", got[[2]int{0, 0}].First, first)
	check("last token", got[[2]int{0, 0}].End, end)
	check("a gap", got[[2]int{0, 1}].Due, end+time.Second/2)
	check("another", got[[2]int{0, 2}].Due, end+time.Second/4)
	check("a join", got[[2]int{0, 3}].Due, max(got[[2]int{0, 1}].End, got[[2]int{0, 2}].End)+2*time.Second)
	check("a later session", got[[2]int{1, 0}].Due, 10*time.Second)
	check("the whole", f.Length, 9*time.Second+stepOf(testCost, 0, 1))
	check("what is offered", f.Offered, 9*time.Second)
	if f.Sessions != 2 || f.Requests != 5 || f.Prompt != 361 || f.Out != 66 || f.Found != 0 {
		t.Errorf("%+v", f)
	}
	busy := stepOf(testCost, 0, 100) + 2*stepOf(testCost, 1, 0) + stepOf(testCost, 0, 10) + 59*stepOf(testCost, 1, 0) + 200*testCost.PerPromptToken + stepOf(testCost, 0, 50) + stepOf(testCost, 0, 1)
	check("work", f.busy, busy)

	got, _ = dried(t, cfg, Bounds{Absolute: true}, tree)
	check("a recorded time", got[[2]int{0, 1}].Due, 1100*time.Millisecond)
	check("a recorded join", got[[2]int{0, 3}].Due, 3*time.Second)
}

func TestADryRunKeepsItsBounds(t *testing.T) {
	var sessions []*dataset.Conversation
	for i := range 6 {
		sessions = append(sessions, &dataset.Conversation{Turns: []dataset.Turn{plainTurn(uint64(i), 10, 1, 0), plainTurn(uint64(i), 10, 1, 1)}})
	}
	most := func(got map[[2]int]SimulatedRequest, from func(SimulatedRequest) time.Duration) int {
		var marks [][2]time.Duration
		for _, r := range got {
			marks = append(marks, [2]time.Duration{from(r), 1}, [2]time.Duration{r.End, -1})
		}
		slices.SortFunc(marks, func(a, b [2]time.Duration) int {
			return int(a[0]-b[0])*2 + int(a[1]-b[1]) // an end comes first
		})
		now, most := time.Duration(0), 0
		for _, m := range marks {
			now += m[1]
			most = max(most, int(now))
		}
		return most
	}
	cfg := Config{Cost: testCost}
	got, _ := dried(t, cfg, Bounds{Concurrency: 2}, sessions...)
	if n := most(got, func(r SimulatedRequest) time.Duration { return r.Sent }); n != 2 || len(got) != 12 {
		t.Errorf("%d of %d requests in flight, want 2 of 12", n, len(got))
	}
	if got[[2]int{2, 0}].Sent != got[[2]int{0, 0}].End || got[[2]int{2, 0}].Due != 0 {
		t.Errorf("%+v, want it to take the place of %+v", got[[2]int{2, 0}], got[[2]int{0, 0}])
	}
	got, _ = dried(t, cfg, Bounds{Sessions: 2}, sessions...)
	if a, b := got[[2]int{0, 1}].End, got[[2]int{2, 0}].Due; a != b {
		t.Errorf("the third session began at %v, want %v, the end of the first", b, a)
	}
	got, f := dried(t, cfg, Bounds{Servers: 2}, sessions...)
	for key, r := range got {
		if r.Server != key[0]%2 {
			t.Errorf("session %d was at server %d", key[0], r.Server)
		}
	}
	if one := stepOf(testCost, 0, 30); got[[2]int{5, 0}].First != one || math.Abs(f.Busy-2*one.Seconds()/f.Length.Seconds()) > 1e-9 {
		t.Errorf("first token at %v, want %v; busy %v", got[[2]int{5, 0}].First, one, f.Busy)
	}
}

func TestADryRunFindsWhatTheFormulaSays(t *testing.T) {
	var sessions []*dataset.Conversation
	var want []int
	seen := map[string]bool{}
	random := rand.New(rand.NewPCG(3, 3))
	for i := range 300 {
		c := &dataset.Conversation{Due: new(float64(100 * i)), Turns: []dataset.Turn{{OutputLen: 1}}}
		t, path, k, n, front := &c.Turns[0], "", 0, 0, true
		for range random.IntN(8) {
			b := dataset.Block{ID: random.Uint64N(2), Tokens: 512}
			t.Blocks = append(t.Blocks, b)
			path += fmt.Sprint(b)
			if front = front && seen[path]; front {
				k++
			}
			seen[path] = true
			n += 512
		}
		t.Tail = dataset.Block{ID: 100 + uint64(i), Tokens: int32(random.IntN(512))}
		if n += int(t.Tail.Tokens); n == 0 {
			continue
		}
		sessions = append(sessions, c)
		want = append(want, min(512*k, (n-1)/kvcache.BlockSize*kvcache.BlockSize))
	}
	got, _ := dried(t, Config{Cache: Cache{Prefixes: true}}, Bounds{}, sessions...)
	for i, want := range want {
		if found := got[[2]int{i, 0}].Found; found != want {
			t.Errorf("request %d found %d tokens, want %d", i, found, want)
		}
	}
}

func TestLiveAnswersAreFoundInADryRun(t *testing.T) {
	messages := func(n int) json.RawMessage {
		return mustJSON([]map[string]string{{"role": "user", "content": promptOf(n)}})
	}
	recorded := json.RawMessage(`{"role":"assistant","content":"tok9 tok9"}`)
	chat := &dataset.Conversation{Turns: []dataset.Turn{
		{Messages: messages(50), OutputLen: 45, Answer: recorded}, {Messages: messages(5), OutputLen: 30, Answer: recorded}, {Messages: messages(5), OutputLen: 1},
	}}
	text := &dataset.Conversation{Turns: []dataset.Turn{{Prompt: promptOf(50), OutputLen: 45, Answer: recorded}, {Prompt: " " + promptOf(5), OutputLen: 30}}}
	for _, row := range []struct {
		live   bool
		c      *dataset.Conversation
		prompt []int
		found  []int
	}{
		{true, chat, []int{56, 114, 157}, []int{0, 96, 128}},
		{false, chat, []int{56, 71, 86}, []int{0, 48, 64}},
		{true, text, []int{50, 100}, []int{0, 80}},
		{false, text, []int{50, 56}, []int{0, 48}},
	} {
		got, _ := dried(t, Config{Cache: Cache{Prefixes: true}}, Bounds{Live: row.live}, row.c)
		for turn, want := range row.prompt {
			if r := got[[2]int{0, turn}]; r.Prompt != want || r.Found != row.found[turn] {
				t.Errorf("live %v, turn %d: %d tokens and %d found, want %d and %d", row.live, turn, r.Prompt, r.Found, want, row.found[turn])
			}
		}
	}
}

func TestADryRunRefusesWhatTheModelCannotHold(t *testing.T) {
	c := &dataset.Conversation{Due: new(1.0), Turns: []dataset.Turn{plainTurn(1, 50, 10, 0), plainTurn(2, 91, 10, 1), plainTurn(3, 1, 1, 0)}}
	got, f := dried(t, Config{Cost: testCost, Limits: Limits{ModelLen: 100}}, Bounds{Concurrency: 1}, c, &dataset.Conversation{Due: new(5.0), Turns: []dataset.Turn{plainTurn(1, 90, 10, 0)}})
	if r := got[[2]int{0, 1}]; !r.Refused || r.End != r.Due || f.Refused != 1 || f.Unsent != 1 || f.Requests != 3 || f.Sessions != 2 {
		t.Errorf("%+v %+v", r, f)
	}
}

func TestADryRunReportsErrors(t *testing.T) {
	broken := errors.New("broken")
	var f Forecast
	for name, row := range map[string]struct {
		cfg    Config
		source dataset.Source
		want   string
	}{
		"config":    {Config{Jitter: -1}, source(), "step times and jitter must not be negative"},
		"source":    {Config{}, func(yield func(*dataset.Conversation, error) bool) { yield(nil, broken) }, "broken"},
		"no answer": {Config{}, source(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "a", OutputLen: 1}, {Prompt: "b"}}}), "turn 1 of session 0: turn 1 waits for the answer to turn 0, which is not recorded"},
		"no tokens": {Config{}, source(&dataset.Conversation{Turns: []dataset.Turn{{}}}), "turn 0 of session 0: the prompt must hold a token"},
	} {
		var last error
		for _, err := range Dry(row.cfg, row.source, Bounds{}, &f) {
			last = err
		}
		if last == nil || last.Error() != row.want {
			t.Errorf("%s: %v, want %s", name, last, row.want)
		}
	}
}

// traffic is a day of requests in the manner of Mooncake's conversations, sped up.
func traffic(requests int, speed float64) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		random := rand.New(rand.NewPCG(1, 1))
		at := 0.0
		for i := range requests {
			at += random.ExpFloat64() * 86400 / float64(requests) / speed
			c := &dataset.Conversation{Due: new(at), Turns: make([]dataset.Turn, 1)}
			t := &c.Turns[0]
			t.OutputLen = 1 + int(random.ExpFloat64()*340)
			for b := range 1 + int(random.ExpFloat64()*22) {
				id := uint64(i/3*1000 + b)
				if b == 0 {
					id = 0 // all have it
				}
				t.Blocks = append(t.Blocks, dataset.Block{ID: id, Tokens: 512})
			}
			t.Tail = dataset.Block{ID: uint64(i*1000 + 999), Tokens: int32(1 + random.IntN(511))}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// A server that is needed a little less than once keeps up: it is done soon after the load. One that
// is needed a little more than once is late by as much.
func TestNeedsTellsWhatKeepsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	const requests = 1200
	step := speed.StepTime{Cost: speed.DefaultCost(), Context: 2, Attention: 1, Overlap: .3, Jitter: .02}
	for name, cfg := range map[string]Config{
		"with a cache":  {Profile: &speed.Profile{Step: step}, Limits: Limits{NumSeqs: 32, ModelLen: 200000}, Cache: Cache{Prefixes: true}},
		"prefill first": {Profile: &speed.Profile{Step: step, PrefillFirst: true}, Limits: Limits{NumSeqs: 16, ModelLen: 200000}},
	} {
		run := func(speed float64) (f Forecast) {
			for _, err := range Dry(cfg, traffic(requests, speed), Bounds{}, &f) {
				if err != nil {
					t.Fatal(err)
				}
			}
			return f
		}
		calm := run(1)
		for _, row := range []struct{ needs, least, most float64 }{{.9, 0, .04}, {1.1, .06, .2}} {
			f := run(row.needs / calm.Needs)
			if late := f.Length.Seconds()/f.Offered.Seconds() - 1; late < row.least || late > row.most || math.Abs(f.Needs/row.needs-1) > .03 {
				t.Errorf("%s: needs %v servers, want %v; it takes %v more than the load, want %v to %v", name, f.Needs, row.needs, late, row.least, row.most)
			}
		}
	}
}

func TestEnoughServersKeepUp(t *testing.T) {
	cfg := Config{Limits: Limits{NumSeqs: 16, ModelLen: 200000}, Cache: Cache{Blocks: 30000, Prefixes: true}}
	var one, f Forecast
	for _, err := range Dry(cfg, traffic(600, 800), Bounds{}, &one) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Enough(cfg, traffic(600, 800), Bounds{}, &f); err != nil {
		t.Fatal(err)
	}
	if f.Servers < 2 || f.Needs > float64(f.Servers) || f.Needs < float64(f.Servers-1) || f.Length > f.Offered*11/10 || one.Length < f.Length {
		t.Errorf("%d servers, needs %v, length %v of %v offered; one server needs %v and takes %v", f.Servers, f.Needs, f.Length, f.Offered, one.Needs, one.Length)
	}
	if err := Enough(Config{Jitter: -1}, source(), Bounds{}, &f); err == nil {
		t.Error("no error")
	}
}

// BenchmarkDry is the time for a request of a day with 200,000 in the manner of Mooncake.
func BenchmarkDry(b *testing.B) {
	profile := &speed.Profile{Step: speed.StepTime{Cost: speed.DefaultCost()}, MaxNumSeqs: 256, MaxModelLen: 200000, MaxNumBatchedTokens: 8192}
	var f Forecast
	for _, err := range Dry(Config{Profile: profile, Cache: Cache{Prefixes: true}}, traffic(b.N, 200000/float64(b.N)), Bounds{}, &f) {
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(f.Needs, "servers")
	b.ReportMetric(float64(f.Found)/float64(f.Prompt), "found/prompt")
}
