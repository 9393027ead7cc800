package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// fallen is a run of 40 requests, one each second, of 5 ms until a slot, 1 ms lag, 1 ms to connect, 1 ms
// to write, 42 to 46 ms to the first of three chunks, 50 ms to the last, and 2 ms to the end. tell
// changes each before it is counted.
func fallen(t *testing.T, times *samples.Totals, tell func(i int, r *record.Record)) *metrics.Summary {
	t.Helper()
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Percentiles: []float64{99}}})
	c.Keep.Trace = true
	for i := range 40 {
		due := time.Duration(i) * time.Second
		r := &record.Record{
			ID: fmt.Sprintf("bench-%d", i), Index: i,
			Conn: record.Conn{New: true, Connect: ms}, Times: record.Times{Due: due, Slot: due + 5*ms, Sent: due + 6*ms, Wrote: due + 8*ms, FirstByte: due + 9*ms}, Tokens: record.Tokens{In: 100, Out: 3},
		}
		for _, after := range []time.Duration{50 + time.Duration(i%5), 70, 100} {
			r.Answer.Chunks.Append(due + after*ms)
		}
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), due+102*ms
		tell(i, r)
		c.Add(r)
	}
	s := c.Summary(41)
	s.Evidence = &evidence.Evidence{Server: evidence.Server{Times: times}}
	return s
}

func told(_ int, r *record.Record) {
	r.Server = &record.ServerTimes{QueueMS: new(10.0), TTFTMS: new(30.0), GenerationMS: new(48.0), MeanITLMS: new(24.0)}
}

func TestAWaterfallSaysWhereTheTimeWent(t *testing.T) {
	for name, c := range map[string]struct {
		sum  *metrics.Summary
		want string
	}{
		"by request": {fallen(t, nil, told), `
Waterfall of 40 completed requests
ms                       mean  median     P99
wait for a slot          5.00    5.00   5.00*  █
lag                      1.00    1.00   1.00*   █
connect                  1.00    1.00   1.00*
write                    1.00    1.00   1.00*
server queue            10.00   10.00  10.00*    ███
prefill                 30.00   30.00  30.00*       ███████
network and front end    4.00    4.00   6.00*              █
= TTFT                  46.00   46.00  48.00*
generation              48.00   48.00  50.00*               ████████████
read                     2.00    2.00   2.00*                           █
= from due to the end  102.00
* fewer than 10 values beyond this percentile: too few to decide anything by it
`},
		"by none": {fallen(t, nil, func(i int, r *record.Record) { r.Conn, r.Attempts = record.Conn{}, 1+i%2 }), `
Waterfall of 40 completed requests
ms                        mean  median     P99
wait for a slot           5.00    5.00   5.00*  █
lag                       1.00    1.00   1.00*   █
write                     2.00    2.00   2.00*
until the first output   44.00   44.00  46.00*    ███████████
= TTFT                   46.00   46.00  48.00*
generation               48.00   48.00  50.00*               ████████████
read                      2.00    2.00   2.00*                           █
= from due to the end   102.00
* fewer than 10 values beyond this percentile: too few to decide anything by it
Note: the server reports no times of single requests; vLLM does with
      --enable-per-request-metrics
Note: 20 requests were sent again; the time of earlier attempts is in "write"
`},
		"by histograms": {fallen(t, &samples.Totals{
			Queue: samples.Total{Seconds: 0.42, Requests: 42}, Prefill: samples.Total{Seconds: 1.26, Requests: 42}, TTFT: samples.Total{Seconds: 1.764, Requests: 42},
		}, func(int, *record.Record) {}), `
Waterfall of 40 completed requests
ms                          mean  median     P99
wait for a slot             5.00    5.00   5.00*  █
lag                         1.00    1.00   1.00*   █
connect                     1.00    1.00   1.00*
write                       1.00    1.00   1.00*
server queue               10.00                    ███
prefill                    30.00                       ███████
network and front end       4.00                              █
= until the first output   44.00   44.00  46.00*
= TTFT                     46.00   46.00  48.00*
generation                 48.00   48.00  50.00*               ████████████
read                        2.00    2.00   2.00*                           █
= from due to the end     102.00
* fewer than 10 values beyond this percentile: too few to decide anything by it
Note: server queue and prefill are means of the 42 requests that the server's
      /metrics counted, so they and the rest up to the first output have no
      percentiles
Note: by its /metrics the server had the first token 42.00 ms after the request
      arrived, on average
`},
		"of some, and too long": {fallen(t, nil, func(i int, r *record.Record) {
			if told(i, r); i == 0 {
				r.Server.QueueMS = new(52.0)
			}
			if i >= 36 {
				r.Server = nil
			}
		}), `
Waterfall of 40 completed requests
ms                        mean  median     P99
wait for a slot           5.00    5.00   5.00*  █
lag                       1.00    1.00   1.00*   █
connect                   1.00    1.00   1.00*
write                     1.00    1.00   1.00*
server queue             10.05   10.00  37.30*    ███
prefill                  27.00   30.00  30.00*       ██████
network and front end     2.50    4.00   6.00*             █
until the first output    4.45   44.50  45.97*              █
= TTFT                   46.00   46.00  48.00*
generation               48.00   48.00  50.00*               ████████████
read                      2.00    2.00   2.00*                           █
= from due to the end   102.00
* fewer than 10 values beyond this percentile: too few to decide anything by it
Note: the server reported its times of 36 requests; the other 4 are in "until
      the first output"
Note: network and front end are below 0 in 1 request: there the server's queue
      and prefill are longer than the time until the first output
`},
	} {
		var b bytes.Buffer
		if err := Waterfall(&b, c.sum); err != nil || b.Len() > 0 {
			t.Errorf("%s, not requested: %v, %s", name, err, &b)
		}
		(&Parts{Waterfall: true}).Cut(&b, c.sum)
		if err := Waterfall(&b, c.sum); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTheWaterfallOfARequest(t *testing.T) {
	s := fallen(t, nil, func(i int, r *record.Record) {
		if told(i, r); i == 1 {
			r.Result.Class, r.Result.Error, r.Attempts = record.Truncated, "the stream ended", 2
		}
	})
	for id, want := range map[string]string{
		"2": `
Waterfall of request bench-2
ms                       from    took
wait for a slot          0.00    5.00  █
lag                      5.00    1.00   █
connect                  6.00    1.00
write                    7.00    1.00
server queue             8.00   10.00    ███
prefill                 18.00   30.00       ███████
network and front end   48.00    4.00              █
generation              52.00   48.00               ████████████
read                   100.00    2.00                           █
= from due to the end          102.00
- number 2 of the dataset, turn 0, due 2.00 s after the start
- 100 prompt tokens, 3 output tokens
- first byte at 9.00 ms, first chunk at 52.00 ms, first content at 52.00 ms
- 3 chunks; the median gap 18.00 ms, the longest 30.00 ms, before chunk 3
- by the server: queue 10.00 ms, prefill 30.00 ms, generation 48.00 ms, mean ITL
  24.00 ms
`,
		"bench-1": `
Waterfall of request bench-1
ms                     from    took
until it was sent      0.00    6.00
until it failed        6.00   96.00
= from due to the end        102.00
- number 1 of the dataset, turn 0, due 1.00 s after the start
- failed (truncated): the stream ended
- sent 2 times: the time of earlier attempts is in "write"
- first byte at 9.00 ms, first chunk at 51.00 ms, first content at 51.00 ms
- 3 chunks; the median gap 19.00 ms, the longest 30.00 ms, before chunk 3
- by the server: queue 10.00 ms, prefill 30.00 ms, generation 48.00 ms, mean ITL
  24.00 ms
`,
		"bench-\x1b[2J": "\nNo measured request has the id or the number bench-\ufffd[2J\n",
	} {
		var b bytes.Buffer
		if err := requestWaterfalls(&b, s, id); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

func TestTheWaterfallInAResultFile(t *testing.T) {
	s := fallen(t, nil, told)
	s.Parts.Spans = spans.Each(s)
	var got struct {
		Requests int     `json:"requests"`
		By       string  `json:"server_times_by"`
		Of       int     `json:"server_times_of"`
		Total    float64 `json:"mean_total_ms"`
		Prefill  map[string]float64
		Network  map[string]float64
		Slot     map[string]float64
		First    map[string]float64 `json:"first_output"`
	}
	if err := json.Unmarshal(pyjson.Append(nil, waterfallObject(s)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Requests != 40 || got.By != "requests" || got.Of != 40 || got.Total != 102 || got.Prefill["mean_ms"] != 30 || got.Network["median_ms"] != 4 ||
		got.Network["p99_ms"] != 6 || got.Slot["mean_ms"] != 5 || got.First["mean_ms"] != 0 || len(got.First) != 1 {
		t.Errorf("%+v", got)
	}
	var b bytes.Buffer
	empty := aspect.Collector(&metrics.Header{}).Summary(1)
	(&Parts{Waterfall: true, Request: "1"}).Cut(&b, empty)
	if err := Waterfall(&b, empty); err != nil {
		t.Fatal(err)
	}
	want := "WARNING: --request needs single requests: record a stream (servebench run -o)\n\nNo request completed, so there is no waterfall.\n"
	if b.String() != want || waterfallObject(empty) != nil {
		t.Errorf("without requests: %s", &b)
	}
}

// To a server, each answer is a request. vLLM then reports no times with a request, whatever its flags are.
func TestAWaterfallOfSeveralAnswers(t *testing.T) {
	for _, c := range []struct {
		times *samples.Totals
		says  string
	}{
		{&samples.Totals{Queue: samples.Total{Seconds: 0.8, Requests: 80}, Prefill: samples.Total{Seconds: 2.4, Requests: 80}},
			"server queue and prefill are means of the 80 answers, 2 to a request, that the server's /metrics counted"},
		{nil, "vLLM does with --enable-per-request-metrics, but not for requests with several answers"},
	} {
		s := fallen(t, c.times, func(int, *record.Record) {})
		s.Header.Config.Traits.Answers = 2
		if notes := strings.Join(waterfallNotes(s, spans.Of(s)), "\n"); !strings.Contains(notes, c.says) {
			t.Errorf("notes %q, want %q", notes, c.says)
		}
	}
}
