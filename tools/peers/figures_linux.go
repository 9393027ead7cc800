package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/tools/peers/truth"
)

// An asked is what a request of a conversation asks for. Two clients that send the same requests have
// equal ones.
type asked struct {
	Session  string   `json:"session"`
	Messages []string `json:"messages"`
	Tokens   int      `json:"tokens"`
}

// askedIn are the requests kept, by session and turn.
func askedIn(all []truth.Kept) (list []asked) {
	for _, k := range all {
		p, err := promptOf(k.Body)
		if err != nil {
			p.messages = []string{err.Error()}
		}
		list = append(list, asked{k.Field("X-Session-ID"), p.messages, k.Tokens()})
	}
	slices.SortStableFunc(list, func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(len(a.Messages), len(b.Messages)))
	})
	return list
}

// alike counts the requests of a that are also b's.
func alike(a, b []asked) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i].Session == b[i].Session && a[i].Tokens == b[i].Tokens && slices.Equal(a[i].Messages, b[i].Messages) {
			n++
		}
	}
	return n
}

// A figure is what vLLM's script knows of one request. Times are in milliseconds.
type figure struct {
	Start   float64 `json:"start_time_ms"`
	TTFT    float64 `json:"ttft_ms"`
	TPOT    float64 `json:"tpot_ms"`
	Latency float64 `json:"latency_ms"`
	Turns   int     `json:"input_num_turns"` // messages
	In      int     `json:"input_num_tokens"`
	Out     int     `json:"output_num_tokens"`
	Chunks  int     `json:"output_num_chunks"` // without the first
}

// figureOf is what a record says of them. The script's latency ends with the answer's last byte, and
// its TPOT spreads the time after the first chunk over the other tokens.
func figureOf(r *record.Record) figure {
	ms := func(seconds float64) float64 { return 1000 * seconds }
	f := figure{Start: ms(r.Times.Sent.Seconds()), TTFT: ms(r.TTFT().Seconds()),
		Latency: ms((r.Times.End - r.Times.Sent).Seconds()),
		Turns:   2*r.Turn + 1, In: r.Tokens.InAsked, Out: r.Tokens.Out, Chunks: r.Answer.Chunks.Len() - 1}
	if r.Tokens.Out > 1 {
		f.TPOT = (f.Latency - f.TTFT) / float64(r.Tokens.Out-1)
	}
	return f
}

// A summary is what vLLM's script prints at its end.
type summary struct {
	Seconds float64              `json:"runtime_sec"`
	Rate    float64              `json:"requests_per_sec"`
	Rows    map[string][]float64 `json:"rows"` // count, mean, std, min, percentiles, max
}

// rowsOf has how to get each row.
var rowsOf = map[string]func(f figure) float64{
	"ttft_ms":           func(f figure) float64 { return f.TTFT },
	"tpot_ms":           func(f figure) float64 { return f.TPOT },
	"latency_ms":        func(f figure) float64 { return f.Latency },
	"input_num_turns":   func(f figure) float64 { return float64(f.Turns) },
	"input_num_tokens":  func(f figure) float64 { return float64(f.In) },
	"output_num_tokens": func(f figure) float64 { return float64(f.Out) },
	"output_num_chunks": func(f figure) float64 { return float64(f.Chunks) },
}

// tabulate makes the script's table: its runtime is from the first start to the end of the request
// that started last, and its deviation a sample's.
func tabulate(all []figure) *summary {
	if len(all) == 0 {
		return nil
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b figure) int { return cmp.Compare(a.Start, b.Start) })
	last := all[len(all)-1]
	t := &summary{Seconds: (last.Start + last.Latency - all[0].Start) / 1000, Rows: map[string][]float64{}}
	t.Rate = float64(len(all)) / t.Seconds
	for name, of := range rowsOf {
		values := make([]float64, len(all))
		for i, f := range all {
			values[i] = of(f)
		}
		t.Rows[name] = describe(values)
	}
	return t
}

// describe is pandas' summary of values, with the percentiles that the script asks for.
func describe(values []float64) []float64 {
	values = slices.Sorted(slices.Values(values))
	n, mean, squares := float64(len(values)), numpy.Mean(values), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	row := []float64{n, mean, math.Sqrt(squares / (n - 1)), values[0]}
	percentiles := []float64{25, 50, 75, 90}
	for least, p := range map[int]float64{100: 99, 1000: 99.9, 10000: 99.99} {
		if len(values) >= least {
			percentiles = append(percentiles, p)
		}
	}
	slices.Sort(percentiles)
	for _, p := range percentiles {
		row = append(row, numpy.Percentile(values, p))
	}
	return append(row, values[len(values)-1])
}

var printedFigure = regexp.MustCompile(`^(runtime_sec|requests_per_sec) = ([0-9.]+)$`)

// readTable reads what the script printed.
func readTable(text string) (*summary, error) {
	t := &summary{Rows: map[string][]float64{}}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if m := printedFigure.FindStringSubmatch(line); m != nil {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return nil, err
			}
			if m[1] == "runtime_sec" {
				t.Seconds = v
			} else {
				t.Rate = v
			}
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 || rowsOf[words[0]] == nil {
			continue
		}
		for _, word := range words[1:] {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("reading the row %s: %w", words[0], err)
			}
			t.Rows[words[0]] = append(t.Rows[words[0]], v)
		}
	}
	if len(t.Rows) != len(rowsOf) || t.Seconds == 0 {
		return nil, fmt.Errorf("the script printed %d rows, not %d", len(t.Rows), len(rowsOf))
	}
	return t, nil
}

// differs says in which rows two tables differ by more than a printed digit: the script prints two
// behind the point, and three of its runtime and rate.
func (t *summary) differs(printed *summary, rows ...string) (names []string) {
	for _, name := range rows {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 0.00501 }
		if !slices.EqualFunc(t.Rows[name], printed.Rows[name], near) {
			names = append(names, name)
		}
	}
	return names
}

// scriptReplays is the command line of vLLM's script.
func (p programs) scriptReplays(t *trace, at place) []string {
	return []string{filepath.Join(p.vllm, "bin", "python"), "tools/peers/multi_turn.py", p.multiTurn,
		filepath.Join(at.dir, tableFile),
		"--input-file", t.file, "--model", at.tokenizer, "--served-model-name", truth.Model, "--url", at.url,
		"--num-clients", strconv.Itoa(mostSessions), "--no-early-stop", "--send-conversation-id",
		"--stats-json-output", filepath.Join(at.dir, resultFile)}
}

// tableFile has what the script prints.
const tableFile = "table"

// readScript reads what the script kept of its requests, and what it printed.
func readScript(_ *trace, dir string, c *course) error {
	if err := readJSON(filepath.Join(dir, resultFile), &c.Figures); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, tableFile))
	if err != nil {
		return err
	}
	c.Printed, err = readTable(string(text))
	return err
}
