package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/tools/peers/truth"
)

// printedTable is what the script prints of five requests; the numbers are pandas'.
const printedTable = `----------
Statistics summary:
runtime_sec = 2.500
requests_per_sec = 2.000
----------
                   count    mean     std     min     25%     50%     75%     90%     max
ttft_ms              5.0   30.00   15.81   10.00   20.00   30.00   40.00   46.00   50.00
tpot_ms              5.0    1.00    0.00    1.00    1.00    1.00    1.00    1.00    1.00
latency_ms           5.0  500.00    0.00  500.00  500.00  500.00  500.00  500.00  500.00
input_num_turns      5.0    2.60    1.67    1.00    1.00    3.00    3.00    4.20    5.00
input_num_tokens     5.0  110.00    0.00  110.00  110.00  110.00  110.00  110.00  110.00
output_num_tokens    5.0    8.00    0.00    8.00    8.00    8.00    8.00    8.00    8.00
output_num_chunks    5.0    7.00    0.00    7.00    7.00    7.00    7.00    7.00    7.00
----------
`

// fiveFigures are these requests, the last one first.
func fiveFigures() (all []figure) {
	for i, turns := range []int{1, 1, 3, 3, 5} {
		all = append(all, figure{Start: 1000 + 500*float64(i), TTFT: 10 * float64(i+1), TPOT: 1, Latency: 500, Turns: turns, In: 110, Out: 8, Chunks: 7})
	}
	slices.Reverse(all)
	return all
}

func TestOurTableIsTheScripts(t *testing.T) {
	printed, err := readTable(printedTable)
	if err != nil {
		t.Fatal(err)
	}
	all := fiveFigures()
	names := []string{"ttft_ms", "tpot_ms", "latency_ms", "input_num_turns", "input_num_tokens", "output_num_tokens", "output_num_chunks"}
	ours := tabulate(all)
	if rows := ours.differs(printed, names...); rows != nil || ours.Seconds != printed.Seconds || ours.Rate != printed.Rate {
		t.Errorf("rows %q differ; %v s and %v a second, want %v and %v", rows, ours.Seconds, ours.Rate, printed.Seconds, printed.Rate)
	}
	all[2].TTFT += 0.1
	all[0].Turns++
	if rows := tabulate(all).differs(printed, names...); !slices.Equal(rows, []string{"ttft_ms", "input_num_turns"}) {
		t.Errorf("rows %q differ, want the two that were changed", rows)
	}
	if _, err := readTable(strings.Replace(printedTable, "tpot_ms", "other", 1)); err == nil {
		t.Error("a table without a row was read")
	}
}

func TestManyValuesHaveMorePercentiles(t *testing.T) {
	for n, want := range map[int]int{5: 9, 100: 10, 1000: 11, 10000: 12} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(n - i)
		}
		row := describe(values)
		if len(row) != want || !slices.IsSorted(row[3:]) || row[len(row)-1] != float64(n) {
			t.Errorf("%d values are described by %v", n, row)
		}
		if n == 100 && math.Abs(row[8]-99.01) > 1e-9 {
			t.Errorf("the 99th percentile of 1 to 100 is %v", row[8])
		}
	}
}

func TestRecordsHaveTheScriptsFigures(t *testing.T) {
	var chunks record.Stamps
	for _, at := range []time.Duration{120, 130, 140} {
		chunks.Append(at * time.Millisecond)
	}
	r := &record.Record{Turn: 2, Times: record.Times{Sent: 100 * time.Millisecond, Last: 140 * time.Millisecond, End: 150 * time.Millisecond}, Tokens: record.Tokens{InAsked: 40, Out: 4}, Answer: record.Answer{Chunks: chunks}}
	want := figure{Start: 100, TTFT: 20, TPOT: 10, Latency: 50, Turns: 5, In: 40, Out: 4, Chunks: 2}
	if got := figureOf(r); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestRequestsOfTwoClientsAreHeldAgainstEachOther(t *testing.T) {
	chat := func(session, content string) truth.Kept {
		return truth.Kept{Head: "POST / HTTP/1.1\r\nX-Session-ID: " + session, Body: []byte(`{"max_tokens": 5, "messages": [{"content": "` + content + `"}, {"content": [{"text": "b"}]}]}`)}
	}
	a := askedIn([]truth.Kept{chat("s", "a"), chat("t", "a")})
	if b := askedIn([]truth.Kept{chat("t", "a"), chat("s", "a")}); alike(a, b) != 2 {
		t.Errorf("%d of the same requests in another order are alike", alike(a, b))
	}
	if b := askedIn([]truth.Kept{chat("t", "c"), chat("s", "a")}); alike(a, b) != 1 {
		t.Errorf("%d requests are alike, and one has another message", alike(a, b))
	}
}

// TestPageSaysWhatIsWrong gives each fault to servebench's run and expects one complaint.
func TestPageSaysWhatIsWrong(t *testing.T) {
	printed, err := readTable(printedTable)
	if err != nil {
		t.Fatal(err)
	}
	good := func() (our, air, script course) {
		f := finding{Requests: 400, Arrived: 400, Sessions: 400, Ordered: 400, Shared: 400}
		asked := []asked{{"s", []string{"a"}, 8}}
		our = course{Trace: "t", Client: ours, CPU: 1, Lag: 0.5, Finding: f, Asked: asked, Figures: fiveFigures()}
		air = course{Trace: "t", Client: aiperf, CPU: 12, Lag: 30, Finding: f}
		script = course{Trace: "t", Client: multiTurnScript, CPU: 3, Lag: -1, Finding: f, Asked: asked, Figures: fiveFigures(), Printed: printed}
		return our, air, script
	}
	for name, fault := range map[string]func(our *course){
		"":              func(our *course) {},
		"lost":          func(our *course) { our.Finding.Arrived-- },
		"order":         func(our *course) { our.Finding.Ordered-- },
		"another share": func(our *course) { our.Finding.Shared-- },
		"header":        func(our *course) { our.Finding.Sessions-- },
		"strange":       func(our *course) { our.Finding.Strange++ },
		"early":         func(our *course) { our.Finding.Early++ },
		"late":          func(our *course) { our.Lag = 1.5 },
		"dear":          func(our *course) { our.CPU = 1.3 },
		"message":       func(our *course) { our.Asked = []asked{{"s", []string{"b"}, 8}} },
		"tokens":        func(our *course) { our.Figures[0].In++ },
	} {
		our, air, script := good()
		fault(&our)
		p := &sessionPage{courses: []course{our, air, script}}
		complaints := 0
		if err := p.verdict(); err != nil {
			complaints = strings.Count(err.Error(), "\n") + 1
		}
		if want := min(len(name), 1); complaints != want {
			t.Errorf("%q: %d complaints, want %d", name, complaints, want)
		}
		var page strings.Builder
		if err := p.write(&page); err != nil || !strings.Contains(page.String(), "| t | AIPerf | 400 | 400 | 400 | 400 | 400 |") {
			t.Errorf("%q: %v, page\n%s", name, err, page.String())
		}
	}
}
