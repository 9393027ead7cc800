//go:build soak

package loadgen

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

const (
	day  = 24 * time.Hour
	week = 7 * day

	// weekCap is how many exact values are kept of a latency, fewer than the requests
	// of a day at the lower of the rates.
	weekCap = 5000

	// perRequest is what a request may add in the long run: a hash of its prompt, up to
	// a million of them, in a slice that may have twice the room.
	perRequest = 16

	// perWeek is what time may add: the steps of the Truth and a slice of seconds.
	perWeek = 80 << 20
)

// A week of one request a second leaves no more behind than a week of one in ten
// seconds, but for what is said above, and its last day no more than its first.
func TestMemoryOfAWeekIsFlat(t *testing.T) {
	often, sent := runWeek(t, time.Second)
	rarely, few := runWeek(t, 10*time.Second)
	fmt.Println("day  MB at 1/s  MB at 0.1/s")
	for i := range often {
		fmt.Printf("%3d  %9.1f  %11.1f\n", i+1, megabytes(often[i]), megabytes(rarely[i]))
	}
	last := len(often) - 1
	if grown := often[last] - often[0]; grown > perWeek {
		t.Errorf("%.1f MB more after the last day than after the first", megabytes(grown))
	}
	each := float64(often[last]-rarely[last]) / float64(sent-few)
	fmt.Printf("%.1f bytes a request\n", each)
	if each > perRequest {
		t.Errorf("each request leaves %.1f bytes", each)
	}
}

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// runWeek runs a week of requests in fake time, with all that servebench run has
// beside them, and gives the memory in use after each day. An interval log would take
// a millisecond for each second: the run at full speed has one.
func runWeek(t *testing.T, every time.Duration) (inUse []int64, sent int) {
	t.Helper()
	began := time.Now()
	sent = int(week / every)
	synctest.Test(t, func(t *testing.T) {
		line := lines{make(chan net.Conn)}
		web := &http.Server{Handler: http.HandlerFunc(shortAnswer)}
		go web.Serve(line)
		defer close(line.conns)
		b := weekTarget(t, line, sent)
		defer b.server.transport.CloseIdleConnections()
		s := &measure{targets: []*measurement{b}, gpus: new(sources.GPUs)}
		if err := b.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.numbers.collector.Cap = weekCap
		load := b.weekLoad(every)
		run := engine.Run{Loads: []engine.Load{load}, Wait: engine.Sleep, Started: func(epoch time.Time) {
			b.header.Epoch = epoch
			b.numbers.recorder.begin(b.header)
			b.observer.Loading(s.loading())
		}}
		if err := s.take(daily(run.Records(t.Context()), &inUse)); err != nil {
			t.Fatal(err)
		}
		sums, err := judge{&measured{measure: s, took: week, seen: new(evidence.Evidence)}}.run(t.Context())
		if err != nil || sums[0].Completed+sums[0].Failed != sent || sums[0].Failed != sent/50 || len(inUse) != 7 {
			t.Fatalf("%v: %d of %d failed, of %d; %d days", err, sums[0].Failed, sums[0].Completed, sent, len(inUse))
		}
		if !sums[0].TTFT.Approximate() || !sums[0].ITL.Approximate() || len(sums[0].Printed.Errors) != 1001 {
			t.Errorf("a bound was not reached: %q, %d messages", sums[0].Ending.Warnings, len(sums[0].Printed.Errors))
		}
	})
	fmt.Printf("a week of %d requests took %.0f s\n", sent, time.Since(began).Seconds())
	return inUse, sent
}

// exported tells an exporter, as servebench run does.
type exported struct {
	Quiet
	*exporter.Series
}

func (e exported) Loading(l Loading) (over func()) {
	e.Begin(l.Loads[0].Live)
	return func() {}
}

func (e exported) Record(rec *record.Record) { e.Take(rec) }

// weekTarget is a target whose connections are in memory and whose files take
// everything.
func weekTarget(t *testing.T, line lines, n int) *measurement {
	t.Helper()
	records, err := spool.Open(os.DevNull, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := records.Close(spool.Waiting{}); err != nil {
			t.Error(err)
		}
	})
	p := &Plan{Server: Server{BaseURL: "http://memory", Model: "m", Dial: line.dial}, Keep: Keep{Records: records}}
	p = p.complete()
	c, err := connect(p)
	if err != nil {
		t.Fatal(err)
	}
	server, w := &contact{c, "m", "m"}, &workload.Opened{Spec: p.spec(), N: n}
	v := voice{exported{Series: exporter.New("").Series("", "")}, p}
	return measuring(&prepared{voice: v, server: server, workload: w, config: p.Config(), to: engineTarget(p, server, w)})
}

// weekLoad sends as many prompts as b has, all different, at equal distances.
func (b *measurement) weekLoad(every time.Duration) engine.Load {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for i := range b.workload.N {
			c := &dataset.Conversation{ID: fmt.Sprint("week-", i), Turns: []dataset.Turn{{Prompt: fmt.Sprint(i % weekCap), PromptLen: 1, OutputLen: 3}}}
			if !yield(c, nil) {
				return
			}
		}
	}
	schedule := func(yield func(time.Duration) bool) {
		for due := time.Duration(0); yield(due); due += every {
		}
	}
	return engine.Load{Run: b.header.Run, Target: b.to, Source: b.witness.Prompts.Compare(source, false), Schedule: schedule, Live: b.live}
}

// daily notes the memory in use after each day's requests.
func daily(records iter.Seq2[*record.Record, error], inUse *[]int64) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		note := func() {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			*inUse = append(*inUse, int64(m.HeapAlloc))
		}
		next := day
		for rec, err := range records {
			if err == nil && rec.Times.End >= next {
				note()
				next += day
			}
			if !yield(rec, err) {
				return
			}
		}
		note()
	}
}

// shortAnswer streams three tokens; each fiftieth request fails in words of its own.
func shortAnswer(w http.ResponseWriter, r *http.Request) {
	var number int
	fmt.Sscanf(r.Header.Get("X-Request-Id"), "week-%d", &number)
	switch {
	case r.URL.Path == "/metrics":
		fmt.Fprintln(w, "vllm:prefix_cache_queries_total 0")
	case number%50 == 49:
		http.Error(w, fmt.Sprint("no room for ", number), http.StatusServiceUnavailable)
	default:
		for range 3 {
			<-time.After(20 * time.Millisecond)
			io.WriteString(w, `data: {"choices":[{"text":" a"}]}`+"\n\n")
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":3}}`+"\n\ndata: [DONE]\n\n")
	}
}

// lines are connections in memory, which fake time reaches.
type lines struct{ conns chan net.Conn }

func (l lines) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	l.conns <- far
	return near, nil
}

// Accept waits for the next connection, until there is to be none.
func (l lines) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l lines) Close() error   { return nil }
func (l lines) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }
