package sim_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// vocabulary is what the offsets of the blocks' random prompts were drawn from:
// that of Llama 3.
const vocabulary = 128256

// Each profile gives the blocks it was fitted to, in fake time, through the real
// client. One run of each is enough to see that; those that take long are left
// to the table.
func TestProfilesReproduceTheSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("each profile against its blocks: in go test without -short")
	}
	for _, p := range plans() {
		if p.long {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			for _, c := range p.against(t, 1) {
				t.Log(c.row())
			}
		})
	}
}

// SEEDS_TABLE names the file that gets all blocks beside their simulations, each
// the mean of so many runs.
const tableRuns = 9

func TestWriteSeedsTable(t *testing.T) {
	name := os.Getenv("SEEDS_TABLE")
	if name == "" {
		t.Skip("SEEDS_TABLE names no file")
	}
	var all []comparison
	for _, p := range plans() {
		runs := tableRuns
		if p.once {
			runs = 1
		}
		all = append(all, p.against(t, runs)...)
	}
	if len(all) != 37 {
		t.Fatalf("%d blocks, want 37", len(all))
	}
	if err := os.WriteFile(name, []byte(document(all, unseen(t, tableRuns))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Two servers that really share a GPU are each as slow as one that is always
// slowed: the blocks of pairs come of both.
func TestTwoServersOfOneGPUGiveTheBlocksOfPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("two servers against the blocks of pairs: in go test without -short")
	}
	for _, p := range shared()[1:] {
		profile, err := speed.Open(p.profile)
		if err != nil {
			t.Fatal(err)
		}
		gpu := new(speed.GPU)
		pair := p.together(t, sim.Config{Profile: profile, Seed: 1, Device: sim.Device{GPU: gpu}}, sim.Config{Profile: profile, Seed: 2, Device: sim.Device{GPU: gpu}})
		for i, b := range p.blocks {
			c := compare(&p, b.name, b.read(t), pair[i%2:i%2+1])
			t.Log(c.row())
			for _, miss := range c.misses() {
				t.Error(miss)
			}
		}
	}
}

// against replays the plan and compares it with its blocks.
func (p *plan) against(t *testing.T, runs int) (all []comparison) {
	t.Helper()
	profile, err := speed.Open(p.profile)
	if err != nil {
		t.Fatal(err)
	}
	var simulated []*metrics.Summary
	for seed := range runs {
		simulated = append(simulated, p.replay(t, sim.Config{Profile: profile, Seed: uint64(seed + 1)}))
	}
	for _, b := range p.blocks {
		c := compare(p, b.name, b.read(t), simulated)
		for _, miss := range c.misses() {
			t.Error(miss)
		}
		all = append(all, c)
	}
	return all
}

func (b *block) read(t *testing.T) *metrics.Summary {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "testdata", "seeds", b.file))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sums, err := stream.Read(file, metrics.Ask{})
	if err != nil || b.index >= len(sums) {
		t.Fatalf("%s: block %d of %d: %v", b.file, b.index, len(sums), err)
	}
	return sums[b.index]
}

// replay puts the plan's load on a server.
func (p *plan) replay(t *testing.T, cfg sim.Config) *metrics.Summary {
	t.Helper()
	return p.together(t, cfg)[0]
}

// together puts the plan's load on each of several servers at once.
func (p *plan) together(t *testing.T, servers ...sim.Config) (all []*metrics.Summary) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var run engine.Run
		var collectors []*metrics.Collector
		for i, cfg := range servers {
			load, stop := p.start(t, cfg)
			defer stop()
			load.Target.Name = strconv.Itoa(i)
			run.Loads = append(run.Loads, load)
			collectors = append(collectors, aspect.Collector(new(metrics.Header)))
		}
		run.Wait = engine.Sleep
		ends := make([]time.Duration, len(servers))
		for rec, err := range run.Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Result.Class != record.OK {
				t.Fatalf("request %d: %s", rec.Index, rec.Result.Error)
			}
			i, _ := strconv.Atoi(rec.Target)
			collectors[i].Add(rec)
			ends[i] = max(ends[i], rec.Times.End, run.Loads[i].Lasts)
		}
		for i, c := range collectors {
			all = append(all, c.Summary(ends[i].Seconds()))
		}
	})
	return all
}

// start starts a server, and gives the plan's load on it.
func (p *plan) start(t *testing.T, cfg sim.Config) (load engine.Load, stop func()) {
	t.Helper()
	cfg.Tokenizer = tokenizer.Stub{Size: 32000}
	server, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener := pipe.Listen()
	web := &http.Server{Handler: server}
	go web.Serve(listener)
	transport := wire.Connections{Limit: p.limit, Dial: listener.Dial}.Transport()
	return p.load(t, transport), func() {
		transport.CloseIdleConnections()
		web.Close()
		server.Close()
	}
}

func (p *plan) load(t *testing.T, transport http.RoundTripper) engine.Load {
	t.Helper()
	a := p.arrivals()
	if p.offsets {
		a.Start = new(nprand.RandomState)
		d := dataset.Random{Options: dataset.Options{VocabSize: vocabulary, Num: p.num, NumPy: a.Start}, InputLen: 1, OutputLen: 1}
		if _, _, err := d.Open(); err != nil {
			t.Fatal(err)
		}
	}
	schedule, err := a.Schedule(p.num)
	if err != nil {
		t.Fatal(err)
	}
	lasts, err := a.Lasts(p.num)
	if err != nil {
		t.Fatal(err)
	}
	sender := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://sim/v1/completions", Header: exchange.Headers("", nil), Transport: transport}
	body := request.Body{Form: completions.Form, Model: "stub-32000", IgnoreEOS: !p.open}
	encode := func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*engine.Request, error) {
		text, err := body.Encode(&c.Turns[turn])
		return &engine.Request{ID: c.ID, Body: text}, err
	}
	return engine.Load{
		Source: p.source, Schedule: schedule, Lasts: lasts, Concurrency: p.limit,
		Target: engine.Target{Encode: encode, Send: sender.Send},
	}
}

func (p *plan) source(yield func(*dataset.Conversation, error) bool) {
	for i := range p.num {
		ids := make([]int, p.prompt(i))
		turn := dataset.Turn{TokenIDs: ids, PromptLen: len(ids), OutputLen: p.output}
		if !yield(&dataset.Conversation{ID: "seed-" + strconv.Itoa(i), Turns: []dataset.Turn{turn}}, nil) {
			return
		}
	}
}
