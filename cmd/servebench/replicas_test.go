package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/verdict"
)

// A simReplica is a simulated engine that serves at a URL of its own, too.
type simReplica struct {
	*sim.Server
	url string
}

func startReplica(t *testing.T) simReplica {
	t.Helper()
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 5 * time.Millisecond}, Cache: sim.Cache{Prefixes: true, Blocks: 4096}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(engine)
	t.Cleanup(func() { server.Close(); engine.Close() })
	return simReplica{engine, server.URL}
}

// startBalancer hands requests to replicas in turns: those for metrics, and apart from
// them the others.
func startBalancer(t *testing.T, replicas ...simReplica) string {
	t.Helper()
	var turns [2]atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn := &turns[0]
		if r.URL.Path == "/metrics" {
			turn = &turns[1]
		}
		replicas[int(turn.Add(1)-1)%len(replicas)].ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// heat has a replica look up some thousand tokens, and find nearly all.
func heat(t *testing.T, replica simReplica) {
	t.Helper()
	body := fmt.Sprintf(`{"prompt":%q,"max_tokens":1}`, strings.Repeat("tok7 ", 300))
	for range 20 {
		reply, err := http.Post(replica.url+"/v1/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if reply.StatusCode != http.StatusOK {
			t.Fatal(reply.Status)
		}
	}
}

// loaded is a run on a server, with further flags.
func loaded(t *testing.T, server string, flags ...string) (s *metrics.Summary, said string) {
	t.Helper()
	o := mustParse(t, strings.Join(append(flags, "--base-url", server, "--tokenizer", "stub-32000",
		"--num-prompts", "8", "--max-concurrency", "2", "--random-input-len", "50", "--random-output-len", "20"), " "))
	var talk bytes.Buffer
	e := newExperiment(o, io.Discard, &talk)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e.done[0].Summary, talk.String()
}

// judgedByCache says whether a verdict looked at the prefix cache.
func judgedByCache(s *metrics.Summary) bool {
	return slices.ContainsFunc(s.Trust.Checks, func(c verdict.Check) bool { return c.Name == "prefix cache" })
}

// Through a load balancer the metrics before a load are those of one replica, and those
// after it of another.
func TestReplicasBehindALoadBalancerAreNotTakenForOneServer(t *testing.T) {
	a, b := startReplica(t), startReplica(t)
	heat(t, b)
	balancer := startBalancer(t, a, b)
	const advice = "name each replica: --server-metrics http://REPLICA1:8000,http://REPLICA2:8000"
	for range 2 { // before and after are of either
		s, said := loaded(t, balancer)
		said = strings.Join(strings.Fields(said), " ")
		if s.Completed != 8 || judgedByCache(s) || s.Evidence.Server.PrefixQueries != 0 || !strings.Contains(s.Evidence.Server.Mixed, "it comes from processes that started at ") || !strings.Contains(said, advice) {
			t.Errorf("%+v\n%s", s.Evidence, said)
		}
	}
	s, said := loaded(t, balancer, "--server-metrics", "--server-metrics-interval", "0.1")
	if s.Completed != 8 || judgedByCache(s) || s.Parts.Watched.Seen.Running != nil || !strings.Contains(processes.Of(s).Mixed, "it comes from processes that started at ") {
		t.Errorf("%q, %+v\n%s", processes.Of(s).Mixed, s.Parts.Watched.Seen, said)
	}
}

func TestNamedReplicasAreAddedUp(t *testing.T) {
	a, b := startReplica(t), startReplica(t)
	heat(t, b)
	file := filepath.Join(t.TempDir(), "run.jsonl")
	s, said := loaded(t, startBalancer(t, a, b), "--server-metrics", a.url+","+b.url, "--server-metrics-interval", "0.1", "-o", file)
	if e := s.Evidence; processes.Of(s).Mixed != "" || e.Server.Mixed != "" || e.Server.PrefixQueries != 8*50 || !judgedByCache(s) {
		t.Errorf("%q, %+v\n%s", processes.Of(s).Mixed, e, said)
	}
	if seen := s.Parts.Watched.Seen; seen.Running == nil || *seen.Running <= 0 || *seen.Running > 2 || *seen.Preemptions != 0 {
		t.Errorf("%+v\n%s", seen, said)
	}
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, replica := range []string{a.url, b.url} {
		if n := strings.Count(string(lines), `"k":"sample","run":"`+s.Header.Run+`","from":"`+replica+`",`); n < 2 {
			t.Errorf("%d samples of %s in\n%s", n, replica, lines)
		}
	}
}

func TestAReplicaThatTellsNothingIsSaidBeforeTheLoad(t *testing.T) {
	a := startReplica(t)
	silent := httptest.NewServer(http.NotFoundHandler())
	defer silent.Close()
	o := mustParse(t, "--base-url "+a.url+" --tokenizer stub-32000 --num-prompts 1 --server-metrics "+a.url+" "+silent.URL)
	var out bytes.Buffer
	err := newExperiment(o, &out, io.Discard).run(t.Context())
	if want := "--server-metrics: " + silent.URL + "/metrics: 404 page not found"; err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(out.String(), "Successful requests") {
		t.Errorf("%v, want %s\n%s", err, want, &out)
	}
}
