package sim_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// quoted is a text of the page, which has quotes for the backticks that it cannot have here.
func quoted(text string) string { return strings.ReplaceAll(text, `"`, "`") }

const preface = `# Simulated servers compared with measured ones

"servebench sim --profile NAME" behaves like a server that was measured. The profiles are fitted to the 37 result blocks in testdata/seeds. These were measured on vLLM servers: with kvcached, under MPS, on partitions of SMs, and for several numbers and lengths of prompts.

"""sh
servebench sim --profile mps-solo
servebench dataset --tokenizer stub-128256 --num-prompts 200 --random-input-len 1000 --random-output-len 100 --request-rate 20 --arrival-rule 0.9.2
servebench run --base-url http://127.0.0.1:8000 --num-prompts 20 --random-input-len 1000 --random-output-len 100 --request-rate 20 --max-concurrency 50 --arrival-rule 0.9.2
"""

The second command prints the load that the server was measured with. The third sends the beginning of that load.

The tables below compare each block with its simulation. The client of "servebench run" sends the block's workload to the simulator, in fake time. Each number is the mean of nine runs with different jitter; percentiles-e2el is a single run.

**The profiles were fitted to these same blocks.** So the tables show that the model is flexible enough to resemble these servers. They do not show that it predicts another load, nor that a server is slow for the reason in its profile. Details that the blocks do not tell, such as the lengths of answers, were fitted as well.

Each block also has its line in a table of a sweep, with one command for each document, in seconds:

"""sh
servebench sweep testdata/documents/kvcached.yaml --simulate
servebench sweep testdata/documents/percentiles.yaml --simulate
servebench sweep testdata/documents/prefill-decode.yaml --simulate
servebench sweep testdata/documents/ladder.yaml --simulate
servebench sweep testdata/documents/sm-partition.yaml --simulate
"""

Their loads can be written as flags, so the lengths are simpler than in the tables below: uniform in place of ShareGPT's, and one length for all answers of a ladder. The notes below each table say what differs. Without "--simulate" they take as long as the documents: the ladder 55 minutes.

"make seeds" writes this page.

`

const tolerances = `The targets are 5 % for duration and throughputs (10 % on the ladder of 80 tokens), 10 % for means and medians, 25 % for P99. The exceptions, with their causes:

- TTFT of 80×4 and 80×16 (20 %): one step took about 600 ms, the others 400.
- 80×64 (12 % for duration, throughput and median TPOT): TPOT jumps from 87 ms at 32 prompts to 230 ms at 64. No smooth curve has such a kink.
- Median ITL of 80×1024 and 10000×4, median TPOT of 10000×8 (20 %).
- Output throughput of 10000×8 (6 %): the lengths of eight answers are unknown.
- P99 ITL of both ladders (45 %): about one step in a hundred took twice as long, so P99 is either one step or two.
- percentiles-e2el: P99 of TTFT depends only on the first four steps, which prefill 128 prompts. In nine runs it varies from 6.8 to 14.8 s; the table shows the first run. P90 of TTFT (50 %), P75 and P90 of ITL (40 %): the real server admitted larger groups.
- kvcached on: P99 (60 %) in a single run, which may have two slow periods or four.

`

const afterwards = `
## The ladders, fitted to every other row

How well does the model predict rows that it was not fitted to? Its step times were fitted again, only to the rows of 1, 4, 16 … prompts of both ladders, starting from round numbers: ten parameters for ten rows. The table has the rows that were held out. One of them is wrong: 80×32, just before the kink between 32 and 64 prompts, since this fit only has knots at 16, 64 and 256. The lengths of answers, the spread of steps and the tokens held back are as above.

`

const models = `
## What is a model

These parts are models, and not fitted to a GPU:

"""sh
servebench sim --servers 2 --profile mps-solo --sm-percent 100,50 --gpu-power 90,650
servebench sim --servers 2 --kv-pool pages=48,reserve=2-4,map=2ms,unmap=5ms --kv-pool-files /tmp/pool-a /tmp/pool-b
servebench sim --enable-sleep-mode --sleep-times sleep=2s,weights=300ms,kv-cache=20ms,reload=5s
servebench sim --front-end 2ms --slow queue=5ms,network=2ms --request-log log.jsonl --enable-per-request-metrics
"""

- **SMs.** "--sm-percent" caps the SMs of each server. A step with prompt tokens can fill all SMs, and a step that only decodes fills a part of them, where a profile gives one. If the servers want more than the GPU has, they get max-min fair shares. A step with half of the SMs that it can fill takes twice as long. Memory bandwidth is not in the model. With 64 of 132 SMs each, mean TPOT is 2 % above testdata/seeds/mps-sm-partition.md, and mean TTFT 7 to 10 %. With all SMs for both, TPOT is 15 to 17 % above, and mean TTFT 33 to 39 %. The fitted profiles of pairs are closer.
- **Memory.** "--kv-pool" divides the memory of one GPU into pages. A server has as many as its blocks need, and keeps spare ones. A step takes the time "map" for each page that is missing. In the background, a server with fewer spare pages than the first number of "reserve" maps pages until it has as many as the second. With more, it unmaps them. No server takes a page from another: without a free page, it preempts a request, or lets it wait.
- **Sleep.** The calls take the times of "--sleep-times", of which "reload" follows level 2. Requests wait until the server is awake. Before a reload, they fail.
- **Power.** "--gpu-power IDLE,LOADED": the GPU takes LOADED watts while a server on it has a request, and IDLE watts otherwise. So the energy of a run is known.
- **Spans.** "--slow" adds time to spans of each request: "front-end", "queue", "prefill", "network", "generation". The steps of the engine stay as they are, so time added to one span lengthens no other.
- **Prefix cache.** "--enable-prefix-caching" keeps whole blocks of 16 tokens of prompts and responses. A chat costs 4 tokens of template for each message and 2 for the response. The next turn starts with all tokens of this turn and its response.
`

// document is the page that has all comparisons, and those of the rows held out.
func document(all, unseen []comparison) string {
	var b strings.Builder
	b.WriteString(quoted(preface))
	b.WriteString("## How far it reaches\n\n" + reachHead)
	for group := range slices.Values(groups(all)) {
		var part []comparison
		for _, c := range all {
			if c.group == group {
				part = append(part, c)
			}
		}
		b.WriteString(reach(group, part))
	}
	b.WriteString(reach("all", all) + "\n")
	b.WriteString(tolerances)
	b.WriteString("## All blocks: measured → simulated (error in %)\n\nTimes in ms, the duration in s.\n\n" + table(all))
	for _, c := range all {
		if len(c.extras) == 0 {
			continue
		}
		b.WriteString("\nMore numbers of " + c.name + ":\n\n| | measured → simulated |\n|---|---|\n")
		for _, x := range c.extras {
			b.WriteString("| " + x.statistic.name + " | " + x.String() + " |\n")
		}
	}
	b.WriteString(afterwards + reachHead + reach("held out", unseen) + "\n" + table(unseen))
	b.WriteString(quoted(models))
	return b.String()
}

// The page has the texts of its program.
func TestThePageHasItsTexts(t *testing.T) {
	page, err := os.ReadFile("../../docs/measured/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{quoted(preface), tolerances, afterwards, quoted(models)} {
		if !strings.Contains(string(page), text) {
			t.Errorf("docs/measured/profiles.md lacks this text: go run ./tools/seeds\n%s", text)
		}
	}
}

// table has a row for each comparison.
func table(some []comparison) string {
	var b strings.Builder
	b.WriteString("| block |")
	named, _ := statistics()
	for _, s := range named {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(named)+1) + "\n")
	for _, c := range some {
		b.WriteString(c.row())
	}
	return b.String()
}

func groups(all []comparison) (names []string) {
	for _, c := range all {
		if !slices.Contains(names, c.group) {
			names = append(names, c.group)
		}
	}
	return names
}

const reachHead = "| blocks | duration, throughput within 5 % | worst | means, medians within 10 % | worst | P99 within 25 % | worst |\n|---|---|---|---|---|---|---|\n"

// reach is how many cells of some comparisons are within the usual tolerance, by
// kind, and how far off the worst is.
func reach(name string, some []comparison) string {
	row := fmt.Sprintf("| %s (%d) |", name, len(some))
	for _, kind := range []string{"rate", "mean", "p99"} {
		n, within, worst := 0, 0, 0.0
		for _, c := range some {
			for _, x := range c.cells {
				if x.kind != kind || !x.counts() {
					continue
				}
				off := math.Abs(x.off())
				if n, worst = n+1, max(worst, off); off <= usual[kind] {
					within++
				}
			}
		}
		row += fmt.Sprintf(" %d/%d | %.0f %% |", within, n, 100*worst)
	}
	return row + "\n"
}
