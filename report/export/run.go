package export

import (
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/report/save"
)

// A runRow is what the formats of runs need to know about one.
type runRow struct {
	*brief.Run
	header  *metrics.Header
	origin  metrics.Origin
	seconds float64
	verdict string
	remarks []string
	metrics []metrics.Number // of its latencies
	chosen  []metrics.Number // the numbers of its row; nil for the usual ones
	// sessions are its sessions; nil if it has none of several turns.
	sessions *sessions.Sessions
}

func newRun(s *metrics.Summary) *runRow {
	r := &runRow{
		header: s.Header, origin: s.Source.Origin, seconds: s.When.Seconds, sessions: sessions.Of(s), metrics: latencies(s)}
	r.Run = brief.Runs([]*metrics.Summary{s}, r.metrics...)[0]
	if s.Trust != nil {
		r.verdict = string(s.Trust.Verdict)
		for _, c := range s.Trust.Failed() {
			r.remarks = append(r.remarks, c.Text)
		}
	}
	r.remarks = append(r.remarks, s.Ending.Incomplete...)
	return r
}

// latencies are the statistics of each latency, and of job times if the run has sessions: mean,
// median, P90, P99 and what else the run was asked for.
func latencies(s *metrics.Summary) []metrics.Number {
	names := []string{"mean", "median", "p90", "p99"}
	for _, p := range s.Header.Config.Percentiles {
		if name := "p" + metrics.FormatPercentile(p); p != 50 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var all []metrics.Number
	of := []string{"ttft", "tpot", "itl", "e2el"}
	if sessions.Of(s) != nil {
		of = append(of, "job")
	}
	for _, latency := range of {
		for _, name := range names {
			if m, known := numbers.Find(name + "_" + latency); known {
				all = append(all, m)
			}
		}
	}
	return all
}

// A column is a column of the table of runs. An unknown value is empty.
type column struct {
	name string
	of   func(*runRow) string
}

// identityColumns are the columns that say what a run was.
var identityColumns = []column{
	{"run", func(r *runRow) string { return r.header.Run }},             // id of the run
	{"began", func(r *runRow) string { return moment(r.header.Epoch) }}, // start of the run, in UTC
	{"file", func(r *runRow) string { return r.origin.File }},           // where it was read
	// its number there: `servebench report FILE:NUMBER` reports it
	{"number", func(r *runRow) string { return position(r.origin.Number) }},
	{"group", func(r *runRow) string { return r.header.Group }}, // id that the runs of several targets share
	// name of the target, with `alone` where it was loaded alone
	{"target", func(r *runRow) string { return r.header.TargetName() }},
	{"server_start", func(r *runRow) string { return r.Start }},        // id of the server start
	{"label", func(r *runRow) string { return r.header.Config.Label }}, // what the run was asked for
	{"model", func(r *runRow) string { return r.header.Config.Model }},
	{"dataset", func(r *runRow) string { return r.Asked["dataset-name"] }},
	{"num_prompts", func(r *runRow) string { return r.Asked["num-prompts"] }},
	{"request_rate", func(r *runRow) string { return r.Asked["request-rate"] }},
	{"max_concurrency", func(r *runRow) string { return r.Asked["max-concurrency"] }},
}

// measured are the columns with numbers that are no latencies.
var measured = []column{
	{"completed", func(r *runRow) string { return count(r.Completed) }}, // requests
	{"failed", func(r *runRow) string { return count(r.Failed) }},
	// seconds from the first request to the last response
	{"duration_s", func(r *runRow) string { return known(r.seconds) }},
	{"input_tokens", func(r *runRow) string { return count(r.Input) }}, // of completed requests
	{"output_tokens", func(r *runRow) string { return count(r.Output) }},
	{"requests_per_s", func(r *runRow) string { return r.number("request_throughput") }},     // throughput
	{"good_requests_per_s", func(r *runRow) string { return r.number("goodput") }},           // goodput, with `--goodput`
	{"output_tokens_per_s", func(r *runRow) string { return r.number("output_throughput") }}, // throughput of tokens
	{"total_tokens_per_s", func(r *runRow) string { return r.number("total_throughput") }},
}

// ofSessions are the columns about sessions, for tables in which a run has some.
var ofSessions = []column{
	{"sessions", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return count(s.Begun) })
	}}, // sessions that began
	{"sessions_completed", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return count(s.Completed) })
	}}, // of these
	{"sessions_broken", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return count(s.BrokenAll()) })
	}},
	{"sessions_cut", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return count(s.Cut) })
	}},
	{"turns_unsent", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return count(s.Unsent) })
	}}, // turns that were never sent
	// completed sessions per second
	{"sessions_per_s", func(r *runRow) string { return r.number("session_throughput") }},
	// sessions per second that kept all limits of `--goodput`
	{"good_sessions_per_s", func(r *runRow) string { return r.number("session_goodput") }},
	{"cached_share", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return known(s.Cache.CachedShare()) })
	}}, // cached / prompt tokens
	{"reused_share", func(r *runRow) string {
		return r.ofSessions(func(s *sessions.Sessions) string { return known(s.Cache.ReusedShare()) })
	}}, // cached / reusable tokens
}

// ofSessions is a number of the run's sessions, empty without sessions.
func (r *runRow) ofSessions(number func(*sessions.Sessions) string) string {
	if r.sessions == nil {
		return ""
	}
	return number(r.sessions)
}

// runsCSV writes a row for each run. The flags in which the loads of the runs differ and the keys
// of --metadata, including a sweep's arm and repeat, stand between the description and the
// numbers.
func runsCSV(w io.Writer, runs []*runRow) error {
	table := runsTable(runs)
	rows := [][]string{nil}
	for _, c := range table {
		rows[0] = append(rows[0], c.name)
	}
	for _, r := range runs {
		var row []string
		for _, c := range table {
			row = append(row, c.of(r))
		}
		rows = append(rows, row)
	}
	return save.CSV(w, rows)
}

// runsTable are the columns of the table of runs. No two have the same name.
func runsTable(runs []*runRow) []column {
	var keys, names []string
	for _, r := range runs {
		for _, kv := range r.header.Config.Metadata {
			keys = append(keys, kv.Key)
		}
		for _, m := range r.metrics {
			names = append(names, m.Name)
		}
	}
	numbers := slices.Clone(measured)
	if slices.ContainsFunc(runs, func(r *runRow) bool { return r.sessions != nil }) {
		numbers = append(numbers, ofSessions...)
	}
	for _, name := range metrics.Distinct(names) {
		numbers = append(numbers, column{name + "_ms", func(r *runRow) string { return r.number(name) }})
	}
	if len(runs) > 0 && runs[0].chosen != nil {
		numbers = chosenColumns(runs[0].chosen)
	}
	numbers = append(numbers, column{"verdict", func(r *runRow) string { return r.verdict }},
		column{"remark", func(r *runRow) string { return strings.Join(r.remarks, "; ") }})
	taken := map[string]bool{}
	for _, c := range slices.Concat(identityColumns, numbers) {
		taken[c.name] = true
	}
	// other adds a column, whose name has a prefix if it is empty or another column has it.
	var others []column
	other := func(prefix string, c column) {
		for c.name == "" || taken[c.name] {
			c.name = prefix + c.name
		}
		taken[c.name] = true
		others = append(others, c)
	}
	for _, key := range metrics.Distinct(keys) {
		other("metadata.", column{key, func(r *runRow) string { return metrics.Value(r.header.Config.Metadata, key) }})
	}
	for _, flag := range varied(runs) {
		other("flag.", column{strings.ReplaceAll(flag, "-", "_"), func(r *runRow) string { return r.Asked[flag] }})
	}
	return slices.Concat(identityColumns, others, numbers)
}

// chosenColumns are the columns of numbers of the catalogue.
func chosenColumns(chosen []metrics.Number) (columns []column) {
	for _, n := range chosen {
		columns = append(columns, column{n.Key, func(r *runRow) string { return known(n.Of(r.Summary())) }})
	}
	return columns
}

// varied are the flags in which the loads of the runs differ and that no column of told has, in
// order. A result block says nothing of its flags, and does not count.
func varied(runs []*runRow) (flags []string) {
	values := map[string]map[string]bool{}
	for _, r := range runs {
		for name := range r.Asked {
			values[name] = map[string]bool{}
		}
	}
	for _, r := range runs {
		if r.Asked["model"] == "" {
			continue
		}
		for name := range values {
			values[name][r.Asked[name]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 && !slices.Contains(same, name) && !slices.Contains(columned, name) {
			flags = append(flags, name)
		}
	}
	return flags
}

// number is a number of the run, empty where it is not known.
func (r *runRow) number(name string) string {
	v, there := r.Numbers[name]
	if !there {
		return ""
	}
	return known(v)
}

// known is a number that is computed, empty where it is not known.
func known(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return number(rounded(v))
}

// rounded is a number to six decimals, which is a nanosecond in milliseconds.
func rounded(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// count is a count, empty for one that is not known.
func count(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// position is a number from 1 on, empty if it is not known.
func position(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// columned are the properties that other columns have: in told, or as metadata.
var columned = []string{"target", "model", "dataset-name", "num-prompts", "request-rate", "max-concurrency", "arm",
	"host"}

// same are the properties that say nothing of the load.
var same = []string{"seed", "cores", "host", "client", "definitions"}

// names are names of the runs, by what distinguishes them: empty for all if there is one load. Runs
// that repeat each other share a name.
func names(runs []*runRow) []string {
	all := make([]map[string]string, len(runs))
	values := map[string]map[string]bool{}
	for i, r := range runs {
		all[i] = map[string]string{"label": r.header.Config.Label}
		for name, value := range r.Asked {
			if !slices.Contains(same, name) {
				all[i][name] = value
			}
		}
		for name := range all[i] {
			values[name] = map[string]bool{}
		}
	}
	for _, asked := range all {
		for name := range values {
			values[name][asked[name]] = true
		}
	}
	found := make([]string, len(runs))
	for i, asked := range all {
		var words []string
		for name, different := range values {
			if len(different) > 1 && asked[name] != "" {
				words = append(words, name+" "+asked[name])
			}
		}
		slices.Sort(words)
		found[i] = strings.Join(words, ", ")
	}
	return found
}
