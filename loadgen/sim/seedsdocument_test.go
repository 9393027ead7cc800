package sim_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// preface has quotes for the backticks that it cannot have.
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

// document is the page that has all comparisons, and those of the rows held out.
func document(all, unseen []comparison) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(preface, `"`, "`"))
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
	return b.String()
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
