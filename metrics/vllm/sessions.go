package vllm

import (
	"encoding/json"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/pyjson"
)

// The members of the object "sessions" that servebench adds to a result file, and of the rows in it.
// Both directions share these tables.
var (
	sessionCounts = []count[sessions.Sessions]{
		{"begun", func(s *sessions.Sessions) *int { return &s.Begun }},
		{"completed", func(s *sessions.Sessions) *int { return &s.Completed }},
		{"cut", func(s *sessions.Sessions) *int { return &s.Cut }},
		{"earlier", func(s *sessions.Sessions) *int { return &s.Earlier }},
		{"turns_sent", func(s *sessions.Sessions) *int { return &s.Sent }},
		{"turns_unsent", func(s *sessions.Sessions) *int { return &s.Unsent }},
		{"good", func(s *sessions.Sessions) *int { return &s.Good }},
		{"peak_in_flight", func(s *sessions.Sessions) *int { return &s.PeakInFlight }},
		{"later_turns", func(s *sessions.Sessions) *int { return &s.Later.Turns }},
		{"late_turns", func(s *sessions.Sessions) *int { return &s.Later.Late }},
		{"turns_with_gap", func(s *sessions.Sessions) *int { return &s.Later.Gaps }},
		{"vanished_gaps", func(s *sessions.Sessions) *int { return &s.Later.Vanished }},
		{"disordered_turns", func(s *sessions.Sessions) *int { return &s.Later.Disordered }},
	}
	sessionRates = []rate[sessions.Sessions]{
		{"session_throughput", func(s *sessions.Sessions) *float64 { return &s.Throughput }},
		{"session_goodput", func(s *sessions.Sessions) *float64 { return &s.Goodput }},
		{"mean_in_flight", func(s *sessions.Sessions) *float64 { return &s.MeanInFlight }},
	}
	sessionParts = []jobPart{
		{"mean_think_ms", func(p *sessions.JobParts) *time.Duration { return &p.Think }},
		{"mean_tool_ms", func(p *sessions.JobParts) *time.Duration { return &p.Tool }},
		{"mean_places_ms", func(p *sessions.JobParts) *time.Duration { return &p.SessionSlots }},
		{"mean_slots_ms", func(p *sessions.JobParts) *time.Duration { return &p.Slots }},
		{"mean_job_lag_ms", func(p *sessions.JobParts) *time.Duration { return &p.Lag }},
		{"mean_prefill_ms", func(p *sessions.JobParts) *time.Duration { return &p.Prefill }},
		{"mean_decode_ms", func(p *sessions.JobParts) *time.Duration { return &p.Decode }},
	}
	sessionLatencies = []latency[sessions.Sessions]{
		{"job_ms", func(s *sessions.Sessions) *metrics.Distribution { return &s.JobTime }},
		{"cut_after_ms", func(s *sessions.Sessions) *metrics.Distribution { return &s.CutAfter }},
		{"stretch", func(s *sessions.Sessions) *metrics.Distribution { return &s.Stretch }},
		{"later_lag_ms", func(s *sessions.Sessions) *metrics.Distribution { return &s.Later.Lag }},
		{"drift_ms", func(s *sessions.Sessions) *metrics.Distribution { return &s.Later.Drift }},
		{"out_drift_percent", func(s *sessions.Sessions) *metrics.Distribution { return &s.Later.OutDrift }},
		{"in_drift_percent", func(s *sessions.Sessions) *metrics.Distribution { return &s.Later.InDrift }},
	}
	rowCounts = []count[sessions.TurnRow]{
		{"sent", func(r *sessions.TurnRow) *int { return &r.Sent }},
		{"completed", func(r *sessions.TurnRow) *int { return &r.Completed }},
		{"prompt_tokens", func(r *sessions.TurnRow) *int { return &r.Prompt }},
	}
	rowLatencies = []latency[sessions.TurnRow]{
		{"ttft_ms", func(r *sessions.TurnRow) *metrics.Distribution { return &r.TTFT }},
		{"tpot_ms", func(r *sessions.TurnRow) *metrics.Distribution { return &r.TPOT }},
		{"itl_ms", func(r *sessions.TurnRow) *metrics.Distribution { return &r.ITL }},
		{"e2el_ms", func(r *sessions.TurnRow) *metrics.Distribution { return &r.E2EL }},
		{"scheduled_e2el_ms", func(r *sessions.TurnRow) *metrics.Distribution { return &r.ScheduledE2EL }},
	}
	cacheCounts = []count[sessions.CacheUse]{
		{"planned_tokens", func(u *sessions.CacheUse) *int { return &u.Planned }},
		{"reusable_tokens", func(u *sessions.CacheUse) *int { return &u.Reusable }},
	}
	knownCounts = []count[sessions.CacheTokens]{
		{"looked_up_tokens", func(t *sessions.CacheTokens) *int { return &t.Prompt }},
		{"cached_tokens", func(t *sessions.CacheTokens) *int { return &t.Cached }},
		{"reused_tokens", func(t *sessions.CacheTokens) *int { return &t.Reused }},
		{"reusable_tokens_looked_up", func(t *sessions.CacheTokens) *int { return &t.Reusable }},
	}
)

// A count, a rate, a jobPart and a latency are a key and where its value is.
type (
	count[T any] struct {
		key string
		at  func(*T) *int
	}
	rate[T any] struct {
		key string
		at  func(*T) *float64
	}
	jobPart struct {
		key string
		at  func(*sessions.JobParts) *time.Duration
	}
	latency[T any] struct {
		key string // after the name of the statistic
		at  func(*T) *metrics.Distribution
	}
)

// sessionPercentiles are the percentiles in the object, in addition to the median.
var sessionPercentiles = []float64{90, 95, 99}

// Sessions is the object "sessions" of a result file, which vLLM does not write. Unknown numbers are left
// out. In the keys that end in with_cut_ms, the sessions that were cut count: see
// sessions.Sessions.JobPercentile.
func Sessions(s *sessions.Sessions) pyjson.Object {
	var d object
	setCounts(&d, s, sessionCounts)
	if len(s.Broken) > 0 {
		var broken pyjson.Object
		for _, class := range metrics.ByCount(s.Broken) {
			broken.Set(string(class), s.Broken[class])
		}
		d.Set("broken", broken)
	}
	setRates(&d, s, sessionRates)
	setLatencies(&d, s, sessionLatencies)
	if s.Cut > 0 {
		for _, p := range append([]float64{50}, sessionPercentiles...) {
			if v := s.JobPercentile(p); math.IsInf(v, 1) {
				d.Set(statistic(p, "job_with_cut_ms"), "inf")
			} else {
				d.setKnown(statistic(p, "job_with_cut_ms"), v)
			}
		}
	}
	parts := s.MeanParts()
	for _, part := range sessionParts {
		d.Set(part.key, metrics.Milliseconds(*part.at(&parts)))
	}
	setCache(&d, s.Cache)
	rows := make([]pyjson.Object, len(s.Rows))
	for i := range s.Rows {
		row := &s.Rows[i]
		from, to := sessions.RowTurns(i)
		o := object{pyjson.Object{{Key: "from", Value: from}, {Key: "to", Value: to}}}
		setCounts(&o, row, rowCounts)
		setLatencies(&o, row, rowLatencies)
		setCache(&o, row.Cache)
		rows[i] = o.Object
	}
	d.Set("turns", rows)
	return d.Object
}

// statistic is the key of a percentile.
func statistic(p float64, key string) string {
	if p == 50 {
		return "median_" + key
	}
	return "p" + metrics.FormatPercentile(p) + "_" + key
}

func setCounts[T any](d *object, of *T, counts []count[T]) {
	for _, n := range counts {
		d.Set(n.key, *n.at(of))
	}
}

func setRates[T any](d *object, of *T, rates []rate[T]) {
	for _, n := range rates {
		d.setKnown(n.key, *n.at(of))
	}
}

func setLatencies[T any](d *object, of *T, latencies []latency[T]) {
	for _, l := range latencies {
		dist := l.at(of)
		n := dist.Len()
		if q := dist.Quoted; n == 0 && q != nil {
			n = q.Values
		}
		if n == 0 {
			continue
		}
		d.Set("n_"+l.key, n)
		d.setKnown("mean_"+l.key, dist.Mean())
		d.setKnown("median_"+l.key, dist.Median())
		for _, p := range sessionPercentiles {
			d.setKnown(statistic(p, l.key), dist.Percentile(p))
		}
	}
}

func setCache(d *object, u sessions.CacheUse) {
	setCounts(d, &u, cacheCounts)
	if known := u.Known(); known.Prompt > 0 {
		setCounts(d, &known, knownCounts)
	}
}

// readSessions reads what Sessions writes, nil without it.
func (f *resultFile) readSessions() *sessions.Sessions {
	o := f.object("sessions")
	if o == nil {
		return nil
	}
	s := &sessions.Sessions{Cache: o.cache()}
	readCounts(o, s, sessionCounts)
	_ = json.Unmarshal(o.value("broken"), &s.Broken) // without it, none broke
	readRates(o, s, sessionRates)
	readLatencies(o, s, sessionLatencies)
	for _, part := range sessionParts {
		if ms := o.number(part.key); ms >= 0 {
			*part.at(&s.Parts) = time.Duration(math.Round(ms*float64(time.Millisecond))) * time.Duration(s.Completed)
		}
	}
	var rows []json.RawMessage
	_ = json.Unmarshal(o.value("turns"), &rows) // without it, there are no rows
	for _, raw := range rows {
		row := readObject(raw)
		if row == nil {
			break
		}
		r := sessions.TurnRow{Cache: row.cache()}
		readCounts(row, &r, rowCounts)
		readLatencies(row, &r, rowLatencies)
		s.Rows = append(s.Rows, r)
	}
	return s
}

func readCounts[T any](o members, into *T, counts []count[T]) {
	for _, n := range counts {
		*n.at(into) = max(o.count(n.key), 0)
	}
}

func readRates[T any](o members, into *T, rates []rate[T]) {
	for _, n := range rates {
		*n.at(into) = o.number(n.key)
	}
}

func readLatencies[T any](o members, into *T, latencies []latency[T]) {
	for _, l := range latencies {
		q := metrics.NewQuote()
		if q.Values = max(o.count("n_"+l.key), 0); q.Values == 0 {
			continue
		}
		q.Mean, q.Median = o.number("mean_"+l.key), o.number("median_"+l.key)
		for _, p := range sessionPercentiles {
			q.Percentiles[p] = o.number(statistic(p, l.key))
		}
		l.at(into).Quoted = q
	}
}

// cache reads what setCache writes.
func (o members) cache() (u sessions.CacheUse) {
	readCounts(o, &u, cacheCounts)
	readCounts(o, &u.Told, knownCounts)
	if u.Told.Prompt > 0 {
		u.Zeros = 1 // all are known
	}
	return u
}
