package loadgen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/settings"
)

// trace is a file of Mooncake's with sessions of one turn at those milliseconds.
func trace(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// opened are the sessions of a plan, as a run sends them.
func opened(t *testing.T, p *Plan) (all []*dataset.Conversation) {
	t.Helper()
	source, err := p.Requests(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// A trace is cut first, then its gaps are capped, and then it is sped up.
func TestTimesOfATraceChangeInOrder(t *testing.T) {
	name := trace(t,
		`{"timestamp": 0, "session_id": "a", "input_length": 8, "output_length": 1, "hash_ids": [1]}`,
		`{"timestamp": 4000, "session_id": "b", "input_length": 8, "output_length": 1, "hash_ids": [1]}`,
		`{"delay": 9000, "session_id": "b", "input_length": 8, "output_length": 1, "hash_ids": [1]}`,
		`{"timestamp": 6000, "session_id": "c", "input_length": 8, "output_length": 1, "hash_ids": [1]}`,
		`{"timestamp": 7000, "session_id": "d", "input_length": 8, "output_length": 1, "hash_ids": [1]}`)
	p := &Plan{Server: Server{SkipTokenizer: true}, Workload: Workload{
		Dataset: "mooncake", Path: name, SelfTimed: true, TokenIDs: true, NumPrompts: 2, Sessions: settings.Sessions{From: 3 * time.Second, To: 7 * time.Second, GapCap: 5 * time.Second, Speed: 2},
	}}
	all := opened(t, p)
	if len(all) != 2 || *all[0].Due != 0.5 || *all[1].Due != 1.5 || all[0].Turns[1].Gap != 2.5 {
		t.Fatalf("%d sessions: %+v", len(all), all)
	}
	p.Workload.NumPrompts = 1
	if all := opened(t, p); len(all) != 1 {
		t.Errorf("%d sessions, want the first after the cut", len(all))
	}
}

// A dataset that may have times, and has none, is sent as one without times.
func TestDatasetWithoutItsTimesIsUntimed(t *testing.T) {
	name := trace(t, `{"input_length": 8, "output_length": 1, "hash_ids": [1]}`, `{"input_length": 8, "output_length": 1, "hash_ids": [2]}`)
	p := &Plan{Server: Server{SkipTokenizer: true}, Workload: Workload{Dataset: "mooncake", Path: name, SelfTimed: true, TokenIDs: true}}
	w, err := p.open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if u := w.Spec; u.Workload.SelfTimed || !u.Traffic.AtOnce(&u.Workload) || u.Traffic.Endless(&u.Workload) || w.N != 2 {
		t.Errorf("self-timed %v, at once %v, endless %v, %d sessions", u.Workload.SelfTimed, u.Traffic.AtOnce(&u.Workload), u.Traffic.Endless(&u.Workload), w.N)
	}
	if !p.Workload.SelfTimed {
		t.Error("the caller's plan has changed")
	}
}

// The load itself, its header and its block have no times either.
func TestTheLoadOfADatasetWithoutTimesIsUntimed(t *testing.T) {
	name := trace(t, `{"input_length": 8, "output_length": 1, "hash_ids": [1]}`)
	b := ready(t, plan(t, func(p *Plan) {
		p.Workload = Workload{Dataset: "mooncake", Path: name, SelfTimed: true, TokenIDs: true}
		p.Server.SkipTokenizer = true
	}))
	if b.plan.Workload.SelfTimed || b.config.SelfTimed {
		t.Errorf("self-timed: the plan %v, its configuration %v", b.plan.Workload.SelfTimed, b.config.SelfTimed)
	}
}

// A number of sessions is kept going: none waits from the start of the run.
func TestSessionsThatAreKeptGoingHaveNoSchedule(t *testing.T) {
	places := 3
	for _, row := range []struct {
		rate     float64
		schedule bool
	}{{0, false}, {5, true}} {
		p := (&Plan{Server: Server{SkipTokenizer: true}, Workload: Workload{Dataset: "sessions", TokenIDs: true, NumPrompts: 9}}).complete()
		p.Traffic.MaxSessions = &places
		if row.rate > 0 {
			p.Traffic.RequestRate = row.rate
		}
		b := unreached(p, 9)
		load, err := b.load()
		if err != nil || (load.Schedule != nil) != row.schedule || load.Sessions != places || load.Reusable == nil {
			t.Errorf("at %v a second: a schedule %v, %d places, %v", row.rate, load.Schedule != nil, load.Sessions, err)
		}
		if b.atOnce() != places {
			t.Errorf("%d at once", b.atOnce())
		}
	}
}

func TestPlansTellTheSizeOfTheirSessions(t *testing.T) {
	name := trace(t,
		`{"timestamp": 0, "session_id": "a", "input_length": 8, "output_length": 3, "hash_ids": [1]}`,
		`{"delay": 9000, "session_id": "a", "input_length": 10, "output_length": 1, "hash_ids": [1]}`,
		`{"timestamp": 6000, "session_id": "c", "input_length": 6, "output_length": 2, "hash_ids": [1]}`)
	size, ok := (&Plan{Workload: Workload{Dataset: "mooncake", Path: name, SelfTimed: true}}).Size(t.Context())
	if want := (Size{Sessions: 2, Last: 6, Prompt: 12, Output: 3, Path: 3, Gaps: 4.5}); !ok || size != want {
		t.Errorf("%+v, %v, want %+v", size, ok, want)
	}
	if size, ok := (&Plan{}).Size(t.Context()); ok {
		t.Errorf("single requests have the size %+v", size)
	}
	if size, ok := (&Plan{Workload: Workload{Dataset: "weka", Path: "absent"}}).Size(t.Context()); ok {
		t.Errorf("an absent file has the size %+v", size)
	}
}
