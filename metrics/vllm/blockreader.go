package vllm

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// blockHeads are the titles of result blocks; vLLM's Rust client has the second.
var blockHeads = []string{"Serving Benchmark Result", "Embedding/Pooling Benchmark Result"}

// firstLabel opens every block.
const firstLabel = "Successful requests"

// sglangLabel is in the blocks of SGLang, which look much like vLLM's.
const sglangLabel = "Backend"

// ErrNoBlock says that there is no result block in what was read.
var ErrNoBlock = errors.New(`no result block headed "` + blockHeads[0] + `"`)

// A BlockReader finds the result blocks in a text: of vLLM from 0.4.0 on, of its Rust client, with
// or without the spaces that pad their lines, quoted or fenced, whole or in part. Numbers are as
// printed. What a block lacks cannot be computed; a warning says what is missing.
type BlockReader struct {
	found []*metrics.Summary
	open  *metrics.Summary   // the current block, nil between blocks
	known map[string]string  // lines of it that were understood, by their labels
	quote string             // prefix of its lines: "> " of a quotation, "0: " of srun
	last  map[string]float64 // for each metric, the percentile read last
}

// Line takes the next line of the text.
func (b *BlockReader) Line(text string) {
	if prefix, ok := blockHead(text); ok {
		b.begin(prefix)
		return
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, b.quote))
	label, value, ok := strings.Cut(text, ":")
	if label = strings.TrimSpace(label); label == firstLabel && ok && (b.open == nil || b.open.Completed >= 0) {
		// The head is missing.
		b.begin("")
	}
	if b.open == nil {
		return
	}
	if len(text) >= 10 && strings.Trim(text, "=") == "" {
		b.close()
		return
	}
	if ok && b.set(label, strings.TrimSpace(value)) {
		b.known[label] = strings.TrimSpace(value)
	}
}

// blockHead recognises the first line of a block, whatever its width and whatever a progress bar
// left in front of it.
func blockHead(text string) (prefix string, ok bool) {
	for _, title := range blockHeads {
		at := strings.Index(text, "= "+title+" =")
		if at >= 0 {
			return strings.TrimRight(text[:at+1], "="), true
		}
	}
	return "", false
}

func (b *BlockReader) begin(quote string) {
	b.close()
	b.open, b.known, b.quote, b.last = metrics.Unknown(), map[string]string{}, quote, map[string]float64{}
}

func (b *BlockReader) close() {
	if len(b.known) >= leastLines {
		b.open.Source.Fingerprint = fingerprint(b.known)
	}
	if b.open != nil && len(b.known) > 0 {
		b.found = append(b.found, b.open)
	}
	b.open, b.known, b.quote = nil, nil, ""
}

// Summaries ends the text and returns what was found in it, changed by the ask.
func (b *BlockReader) Summaries(ask metrics.Ask) ([]*metrics.Summary, error) {
	b.close()
	if len(b.found) == 0 {
		return nil, ErrNoBlock
	}
	for _, s := range b.found {
		s.Header = ask.Apply(s.Header)
		if len(ask.Goodput) > 0 {
			s.Ending.Warn("goodput cannot be recomputed: a block does not hold the single requests")
		}
		warnUnknown(s)
	}
	return b.found, nil
}

// set stores the value of a line of the block; false if the label is unknown.
func (b *BlockReader) set(label, value string) bool {
	s := b.open
	if label == sglangLabel {
		s.Ending.Warn("this looks like a block of SGLang: only the lines that it shares with vLLM's " +
			"block are read")
		return false
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v >= 0 && v < math.MaxInt) {
		return false
	}
	if l := labelled[label]; l != nil {
		l.set(s, v)
		s.Source.VLLM = cmp.Or(l.release, s.Source.VLLM)
		return true
	}
	if i, ok := strings.CutPrefix(label, position); ok {
		spec := speculationOf(s)
		if i != strconv.Itoa(len(spec.PerPosition)) {
			return false
		}
		spec.PerPosition = append(spec.PerPosition, v/100)
		return true
	}
	return b.setStatistic(label, v)
}

// setStatistic sets one of `Mean TTFT (ms)`, `Median …` and `P99.9 …`.
func (b *BlockReader) setStatistic(label string, v float64) bool {
	which, rest, _ := strings.Cut(label, " ")
	name, isMS := strings.CutSuffix(rest, " (ms)")
	of := slices.IndexFunc(parts, func(p section) bool { return p.label == name && name != "" })
	if of < 0 || !isMS {
		return false
	}
	metric := parts[of].metric
	q, c := b.open.Latency(metric).Quoted, &b.open.Header.Config
	switch which {
	case "Mean":
		q.Mean = v
	case "Median":
		q.Median = v
	default:
		p, err := strconv.ParseFloat(strings.TrimPrefix(which, "P"), 64)
		if err != nil || which[0] != 'P' || !(p >= 0 && p <= 100) {
			return false
		}
		if !slices.Contains(c.Percentiles, p) {
			// After the previous one in its section: lines of earlier sections may be missing.
			at := 0
			if before, read := b.last[metric]; read {
				at = slices.Index(c.Percentiles, before) + 1
			}
			c.Percentiles = slices.Insert(c.Percentiles, at, p)
		}
		q.Percentiles[p], b.last[metric] = v, p
	}
	if !slices.Contains(c.Metrics, metric) {
		c.Metrics = append(c.Metrics, metric)
	}
	return true
}
