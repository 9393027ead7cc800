package loadgen

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/draw"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/sessions"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/lora"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/record"
)

// adapted is a plan of 60 requests that ask for three adapters of a server in memory.
func adapted(t *testing.T) *Plan {
	t.Helper()
	names := []string{"a", "b", "c"}
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: time.Millisecond}, Adapters: names})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &Plan{
		Server:   Server{Handler: server, Tokenizer: "stub-32000"},
		Workload: Workload{NumPrompts: 60, Seed: 3, Random: dataset.Random{InputLen: 8, OutputLen: 2}, Adapters: lora.Choice{Names: names}},
		Traffic:  Traffic{RequestRate: 200},
	}
}

// assignments are the adapters of the requests of runs, by the name of their target, their phase and
// their position.
type assignments struct {
	Quiet
	mu  sync.Mutex
	all map[string]map[string]string
}

func (a *assignments) Record(r *record.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	run := r.Run + r.Target + string(r.Phase)
	if a.all == nil {
		a.all = map[string]map[string]string{}
	}
	if a.all[run] == nil {
		a.all[run] = map[string]string{}
	}
	a.all[run][fmt.Sprintf("%03d-%d", r.Index, r.Turn)] = r.Adapter
}

// text is the adapters of a run in their order.
func text(of map[string]string) string {
	var places []string
	for place := range of {
		places = append(places, place)
	}
	slices.Sort(places)
	var names strings.Builder
	for _, place := range places {
		names.WriteString(of[place])
	}
	return names.String()
}

// texts are the adapters of all runs, sorted.
func (a *assignments) texts() (all []string) {
	for _, run := range a.all {
		all = append(all, text(run))
	}
	slices.Sort(all)
	return all
}

func TestShardsAgreeAboutAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var whole, parts assignments
		if _, err := adapted(t).Run(t.Context(), &whole); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			p := adapted(t)
			p.Shard = Shard{Shard: dataset.Shard{Index: i, Of: 3}, RunID: "r"}
			if _, err := p.Run(t.Context(), &parts); err != nil {
				t.Fatal(err)
			}
		}
		want := whole.texts()
		if got := parts.texts(); len(got) != 1 || got[0] != want[0] || len(got[0]) != 60 || strings.Count(got[0], "a") < 10 {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A repeat asks for adapters in another order. A run alone has the order of the run with the others,
// although its prompts differ.
func TestRunsAloneAskForTheSameAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Plan{Targets: []*Plan{adapted(t), adapted(t)}, SoloFirst: true, Repeat: 2}
		p.Targets[0].Target, p.Targets[1].Target = "x", "y"
		var got assignments
		if _, err := p.Run(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		all := got.texts()
		if len(all) != 8 || len(slices.Compact(all)) != 2 { // of two repeats
			t.Errorf("%q", got.texts())
		}
	})
}

func TestAWarmUpAsksForAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := adapted(t)
		p.Traffic.WarmUp, p.Traffic.ProbeRate, p.Traffic.Warmups = time.Second, 10, 2
		var got assignments
		sums, err := p.Run(t.Context(), &got)
		if err != nil || sums[0].Printed.Probes.Completed == 0 || sums[0].Printed.Probes.Failed > 0 {
			t.Fatal(err)
		}
		for _, run := range got.all {
			names := text(run)
			if strings.Count(names, "a") == 0 || strings.Count(names, "b") == 0 || len(names) != len(run) {
				t.Errorf("%q for %d requests", names, len(run))
			}
		}
		var counted int
		for _, a := range adapters.Of(sums[0]) {
			counted += a.Completed
		}
		if all := got.texts(); len(all) == 2 && strings.HasPrefix(all[1], all[0][:20]) {
			t.Errorf("the warm-up asks in the order of the load: %q", all)
		}
		if len(got.all) != 2 || counted != 60 {
			t.Errorf("%d parts, %d requests in the rows of adapters", len(got.all), counted)
		}
	})
}

func TestASessionAsksForOneAdapter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := adapted(t)
		p.Workload.Dataset, p.Workload.NumPrompts = "sessions", 12
		of := func(n float64) draw.Dist { return draw.Dist{First: n} }
		p.Workload.Settings = kinds.Settings{Synthetic: sessions.Synthetic{Turns: of(3), Shape: sessions.Shape{First: of(8), Input: of(4), Output: of(2)}}}
		p.Workload.Adapters.InTurn = true
		var got assignments
		if _, err := p.Run(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		for _, run := range got.all {
			if names := text(run); names != strings.Repeat("aaabbbccc", 4) {
				t.Errorf("%s", names)
			}
		}
	})
}

// A load without an end goes on where the first round of its dataset ended.
func TestALoadOfADurationGoesOnDrawingAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := adapted(t)
		p.Workload.Adapters.InTurn = true
		p.Traffic.RequestRate, p.Traffic.Burstiness, p.Traffic.Duration = 500, math.Inf(1), time.Second
		var got assignments
		if _, err := p.Run(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		for _, run := range got.all {
			if names := text(run); len(names) < 400 || !strings.HasPrefix(strings.Repeat("abc", 200), names) {
				t.Errorf("%d: %s", len(names), names)
			}
		}
	})
}

// A request for a transcription needs a sound, and one for a ranking documents. No short request can ask
// for an adapter that the server does not list.
func TestAnUnlistedAdapterOfAnAPIWithoutShortRequestsIsNoError(t *testing.T) {
	for _, api := range []string{"openai-audio", "vllm-rerank"} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				t.Errorf("%s was asked for", r.URL.Path)
			}
			io.WriteString(w, `{"data": [{"id": "m"}]}`)
		}))
		var talk said
		p := &Plan{Server: Server{Backend: api, BaseURL: web.URL, Model: "m"}, Workload: Workload{Adapters: lora.Choice{Names: []string{"a"}}}}
		p = p.complete()
		c, err := connect(p)
		if err == nil {
			err = (&reach{voice{&talk, p}, &contact{connection: c}}).findAdapters(t.Context())
		}
		if want := "WARNING: the server does not list the adapter a"; err != nil || !slices.Contains(talk.all, want) {
			t.Errorf("%s: %v, said %q", api, err, talk.all)
		}
		c.close()
		web.Close()
	}
}

// said keeps what was said.
type said struct {
	Quiet
	all []string
}

func (s *said) Remark(_, text string) { s.all = append(s.all, text) }
