//go:build vllm && linux

package vllm_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// histograms are those of the engine's /metrics that a client's means are held
// against, all in seconds.
var histograms = []string{
	"vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds", "vllm:e2e_request_latency_seconds",
	"vllm:request_queue_time_seconds", "vllm:request_prefill_time_seconds",
}

// loads are the loads that clients' means are compared at. The short form has the
// first streams alone, and one round.
var (
	apis = []commandLine{
		{"random", "--random-input-len 30 --random-output-len 24 --seed 9"},
		{"chat", "--backend openai-chat --endpoint /v1/chat/completions --random-input-len 30 --random-output-len 24 --seed 9"},
	}
	streams = []int{8, 64, 256}
	rounds  = 3
)

// compareHistograms prints how far each client's means are from the engine's own.
// Nothing is asserted: the engine stamps a request once it is accepted and read,
// so the distance has that in it, and a busy machine has its part.
func compareHistograms(t *testing.T, e *engine, pairs []pair) {
	levels, turns := streams, rounds
	if !full {
		levels, turns = levels[:1], 1
	}
	type contestant struct {
		name string
		client
	}
	var contestants []contestant
	for _, p := range pairs {
		contestants = append(contestants, contestant{"servebench, as " + p.release, p.ours}, contestant{"vLLM " + p.release, p.theirs})
	}
	fmt.Printf("%-7s %7s %-22s %-24s %-24s %-24s %s\n", "load", "streams", "client less engine", "TTFT, ms", "E2EL, ms", "ITL, %", "engine's TTFT, ITL, E2EL, queue, prefill, ms")
	for _, api := range apis {
		for _, n := range levels {
			argv := append(strings.Fields(api.argv), "--base-url", e.url, "--model", served, "--tokenizer", e.tokenizer, "--percentile-metrics", "ttft,tpot,itl,e2el",
				"--ready-check-timeout-sec", "0", "--ignore-eos", "--max-concurrency", strconv.Itoa(n), "--num-prompts", strconv.Itoa(max(64, 2*n)))
			offs := map[string]*off{}
			for turn := range turns {
				order := slices.Clone(contestants)
				if turn%2 == 1 {
					slices.Reverse(order)
				}
				for _, c := range order {
					if offs[c.name] == nil {
						offs[c.name] = new(off)
					}
					e.forget(t)
					before := e.totals(t)
					r := c.run(t, argv)
					offs[c.name].add(r.file, e.means(t, before))
				}
			}
			for _, c := range contestants {
				fmt.Printf("%-7s %7d %-22s %s\n", api.name, n, c.name, offs[c.name])
			}
		}
	}
}

// off is how far a client's means were from the engine's, run by run.
type off struct {
	ttft, e2el, itl []string
	engine          [][]float64 // the engine's own means, in ms
}

func (o *off) add(file resultFile, engine []float64) {
	o.ttft = append(o.ttft, fmt.Sprintf("%+.1f", file.TTFT-engine[0]))
	o.itl = append(o.itl, fmt.Sprintf("%+.1f", 100*(file.ITL/engine[1]-1)))
	o.e2el = append(o.e2el, fmt.Sprintf("%+.1f", file.E2EL-engine[2]))
	o.engine = append(o.engine, engine)
}

func (o *off) String() string {
	own := make([]string, len(histograms))
	for i := range own {
		sum := 0.0
		for _, means := range o.engine {
			sum += means[i]
		}
		own[i] = fmt.Sprintf("%.1f", sum/float64(len(o.engine)))
	}
	var row strings.Builder
	for _, column := range [][]string{o.ttft, o.e2el, o.itl, own} {
		fmt.Fprintf(&row, "%-24s ", strings.Join(column, ", "))
	}
	return strings.TrimSpace(row.String())
}

// totals are the sum and the count of each histogram so far.
func (e *engine) totals(t *testing.T) map[string]float64 {
	t.Helper()
	resp, err := http.Get(e.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	totals := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), "{")
		if _, value, ok := strings.Cut(rest, "} "); ok {
			v, _ := strconv.ParseFloat(value, 64)
			totals[name] += v
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return totals
}

// means are those of the histograms since before, in milliseconds.
func (e *engine) means(t *testing.T, before map[string]float64) (means []float64) {
	t.Helper()
	after := e.totals(t)
	for _, name := range histograms {
		n := after[name+"_count"] - before[name+"_count"]
		if n == 0 {
			t.Fatalf("the engine has counted nothing in %s", name)
		}
		means = append(means, 1000*(after[name+"_sum"]-before[name+"_sum"])/n)
	}
	return means
}
