package sim_test

import (
	"fmt"
	"maps"
	"math"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A plan is the workload behind one or more blocks of the seed documents: what
// it was that gave them, as far as they tell.
type plan struct {
	group   string
	name    string
	profile string
	blocks  []block // all measured under this workload

	num     int
	prompt  func(i int) int // tokens of the prompt of request i
	output  int             // tokens asked for
	open    bool            // the answer may end before that, as the profile says
	rate    float64         // requests a second; 0 sends all at once
	offsets bool            // the dataset drew an offset for each prompt before the gaps
	limit   int             // concurrency; 0 for none
	long    bool            // takes seconds to replay
	once    bool            // one run stands in the table
	wide    tolerance       // instead of the usual
}

// A block is one of a seed document.
type block struct {
	file  string
	index int
	name  string // of the plan's unless empty
}

// A tolerance is how far statistics may be from the block's, as shares. Keys are
// the names of statistics, or their kinds: rate, mean and p99.
type tolerance map[string]float64

var usual = tolerance{"rate": .05, "mean": .10, "p99": .25}

// allowed is how far a statistic may be.
func (p *plan) allowed(s *statistic) float64 {
	for _, key := range []string{s.name, s.kind} {
		if share, ok := p.wide[key]; ok {
			return share
		}
	}
	return usual[s.kind]
}

func (p *plan) arrivals() arrivals.Process {
	a := arrivals.Process{Rule: arrivals.UpToV092, Rate: p.rate, Burstiness: 1}
	if p.rate == 0 {
		a.Rate = math.Inf(1)
	}
	return a
}

func constant(n int) func(int) int { return func(int) int { return n } }

// spread shares out a total as evenly as whole numbers can.
func spread(total, n int) func(int) int {
	return func(i int) int { return total*(i+1)/n - total*i/n }
}

// promptStride has nothing in common with the stride of output lengths, so that long
// prompts get long and short answers.
const promptStride = math.Sqrt2 - 1

func shareGPT(median float64) func(int) int {
	lengths := speed.Lengths{Median: median, Sigma: 1.3, Low: 4, High: 1024}
	return func(i int) int { return lengths.At(int64(i), promptStride) }
}

const (
	kvcachedFile = "kvcached-on-off.md"
	mpsFile      = "mps-sm-partition.md"
	sweepFile    = "num-prompts-seq-length-sweep.txt"
)

// plans are the workloads of all 37 blocks.
func plans() []plan {
	all := []plan{
		{group: "kvcached", name: "kvcached on", profile: "kvcached-on", blocks: []block{{kvcachedFile, 0, ""}},
			num: 1000, prompt: shareGPT(110.7), output: 500, open: true, rate: 10,
			wide: tolerance{"p99": .60}}, // one run of 1000 requests: see the spells
		{group: "kvcached", name: "kvcached off", profile: "kvcached-off", blocks: []block{{kvcachedFile, 1, ""}},
			num: 1000, prompt: shareGPT(110.7), output: 500, open: true, rate: 10},
		{group: "percentiles-e2el", name: "percentiles-e2el", profile: "percentiles-e2el", blocks: []block{{"percentiles-e2el.txt", 0, ""}},
			num: 3000, prompt: shareGPT(122.2), output: 1024, open: true, limit: 128, long: true, once: true,
			wide: tolerance{"P90 TTFT": .50, "P75 ITL": .40, "P90 ITL": .40}},
		{group: "prefill/decode", name: "prefill", profile: "prefill-decode", blocks: []block{{"prefill-decode.md", 0, ""}},
			num: 512, prompt: constant(8191), output: 1},
		{group: "prefill/decode", name: "decode", profile: "prefill-decode", blocks: []block{{"prefill-decode.md", 1, ""}},
			num: 512, prompt: constant(1), output: 128},
	}
	all = append(all, ladders()...)
	return append(all, shared()...)
}

// ladders are the blocks of the sweep, which are of one server.
func ladders() (all []plan) {
	totals := []int{80, 160, 320, 640, 1279, 2594, 5189, 10306, 20829, 41838, 83423, 166647}
	wider := map[string]tolerance{
		"80×4": {"mean TTFT": .20, "median TTFT": .20}, "80×16": {"mean TTFT": .20, "median TTFT": .20},
		"80×64": {"rate": .12, "median TPOT": .12}, "10000×8": {"median TPOT": .20, "out tok/s": .06},
		"80×1024": {"median ITL": .20}, "10000×4": {"median ITL": .20},
	}
	add := func(group, profile string, n, prompt, output int) *plan {
		p := plan{group: group, name: fmt.Sprintf("%d×%d", prompt, n), profile: profile, num: n, output: output}
		p.blocks = []block{{sweepFile, len(all), ""}}
		p.prompt, p.wide = constant(prompt), tolerance{}
		all = append(all, p)
		return &all[len(all)-1]
	}
	for i, total := range totals {
		n := 1 << i
		p := add("ladder 80", "sweep-80", n, 80, 110)
		p.prompt, p.open, p.long = spread(total, n), true, n > 512
		p.wide = tolerance{"rate": .10, "P99 ITL": .45}
		maps.Copy(p.wide, wider[p.name])
	}
	for i := range 7 {
		p := add("ladder 10000", "sweep-10000", 1<<i, 10000, 160)
		p.open = true
		p.wide = tolerance{"P99 ITL": .45}
		maps.Copy(p.wide, wider[p.name])
	}
	for _, single := range []struct{ prompt, output int }{{128000, 150}, {64000, 150}, {32000, 92}, {16000, 138}} {
		add("single 16k–128k", "sweep-single", 1, single.prompt, single.output)
	}
	return all
}

// shared are the blocks of servers that share a GPU. Those of one setting are of
// one workload, and simulated once.
func shared() []plan {
	mps := func(name, profile string, blocks ...block) plan {
		return plan{group: "MPS / SM", name: name, profile: profile, blocks: blocks,
			num: 200, prompt: constant(1000), output: 100, rate: 20, offsets: true, limit: 50}
	}
	return []plan{
		mps("MPS solo", "mps-solo", block{mpsFile, 0, ""}),
		mps("MPS two", "mps-two", block{mpsFile, 1, "MPS two (a)"}, block{mpsFile, 2, "MPS two (b)"},
			block{mpsFile, 3, "MPS two (c)"}, block{mpsFile, 4, "MPS two (d)"}),
		mps("64 SM", "mps-64sm", block{mpsFile, 5, "64 SM (a)"}, block{mpsFile, 6, "64 SM (b)"}),
		mps("100 SM", "mps-100sm", block{mpsFile, 7, "100 SM (a)"}, block{mpsFile, 8, "100 SM (b)"}),
	}
}
