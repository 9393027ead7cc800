package loadgen

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// startOf is the start that a run of the plan found, in its Summary and in its stream.
func startOf(t *testing.T, p *Plan) *metrics.ServerStart {
	t.Helper()
	var kept bytes.Buffer
	p.Workload = Workload{NumPrompts: 2, Random: dataset.Random{InputLen: 4, OutputLen: 2}}
	p.Server.Tokenizer = "stub-32000"
	p.Keep.Records = spool.To(&kept)
	sums, err := p.Run(t.Context(), nil)
	p.Keep.Records.End(spool.Waiting{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := stream.Read(&kept, metrics.Ask{})
	if err != nil || len(read) != 1 {
		t.Fatal(err, len(read))
	}
	found, again := sums[0].Header.Server, read[0].Header.Server
	if (found == nil) != (again == nil) || found != nil && (found.ID != again.ID || found.By != again.By || found.PID != again.PID || found.Version != again.Version || !found.Began.Equal(again.Began)) {
		t.Errorf("the run found %+v, its stream has %+v", found, again)
	}
	return found
}

// served is a simulated server whose other answers replace its own.
func served(t *testing.T, answers map[string]string) http.Handler {
	t.Helper()
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := answers[r.URL.Path]; ok && text == "" {
			w.WriteHeader(http.StatusNotFound)
		} else if ok {
			w.Write([]byte(text))
		} else {
			server.ServeHTTP(w, r)
		}
	})
}

// listenerBegan is when this process began, in seconds of Unix time.
func listenerBegan(t *testing.T) int64 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, known := host.Listener("tcp", l.Addr().String())
	if !known {
		t.Fatal("this process does not listen")
	}
	return p.Began.Unix()
}

func TestARunFindsWhichStartOfTheServerItMeasures(t *testing.T) {
	pid, began := 0, int64(1700000000)
	if runtime.GOOS == "linux" {
		pid, began = os.Getpid(), listenerBegan(t) // in which the server is
	}
	given := &metrics.ServerStart{ID: "one", By: "sweep", Began: time.Unix(5, 0), PID: 77, Version: "old"}
	for name, c := range map[string]struct {
		answers map[string]string
		plan    Plan
		want    metrics.ServerStart
		began   int64 // nanoseconds of Unix time; 0 for any
	}{
		"the process says": {map[string]string{"/metrics": fmt.Sprintf("process_start_time_seconds %d\n", began)}, Plan{},
			metrics.ServerStart{ID: strconv.FormatInt(began, 10), By: "process_start_time_seconds", PID: pid, Version: "servebench-sim"}, began * 1e9},
		"its counters say": {map[string]string{"/metrics": "vllm:a_created 1e10\nvllm:b_created 9e9\n", "/version": ""}, Plan{},
			metrics.ServerStart{ID: "9000000000", By: "_created", PID: pid}, 9000000000_000000000},
		"a process behind a proxy says": {map[string]string{"/metrics": "process_start_time_seconds 1.7000000005e9\n"}, Plan{},
			metrics.ServerStart{ID: "1700000000.5", By: "process_start_time_seconds", Version: "servebench-sim"}, 1700000000_500000000},
		"a later process behind a proxy says": {map[string]string{"/metrics": fmt.Sprintf("process_start_time_seconds %d\n", began+60)}, Plan{},
			metrics.ServerStart{ID: strconv.FormatInt(began+60, 10), By: "process_start_time_seconds", Version: "servebench-sim"}, (began + 60) * 1e9},
		"counters behind a proxy say": {map[string]string{"/metrics": "vllm:a_created 1.7e9\nvllm:b_created 1.6e9\n", "/version": ""}, Plan{},
			metrics.ServerStart{ID: "1600000000", By: "_created", Version: ""}, 1600000000_000000000},
		"a sweep says": {map[string]string{"/metrics": fmt.Sprintf("process_start_time_seconds %d\n", began)}, Plan{Server: Server{Start: given}},
			metrics.ServerStart{ID: "one", By: "sweep", PID: pid, Version: "servebench-sim"}, 5_000000000},
	} {
		web := httptest.NewServer(served(t, c.answers))
		p := c.plan
		p.Server.BaseURL = web.URL
		got := startOf(t, &p)
		web.Close()
		if got == nil || got.ID != c.want.ID || got.By != c.want.By || got.PID != c.want.PID || got.Version != c.want.Version || got.Began.UnixNano() != c.began {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestARunKnowsTheProcessThatListens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which process listens")
	}
	mute := map[string]string{"/metrics": "go_goroutines 5\n", "/version": "", "/props": ""}
	web := httptest.NewServer(served(t, mute))
	defer web.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(web.URL, "http://"))
	byName := startOf(t, &Plan{Server: Server{BaseURL: "http://localhost:" + port}})
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer serveAt(l, served(t, mute))()
	bySocket := startOf(t, &Plan{Server: Server{BaseURL: "http://x", Socket: socket}})
	for _, got := range []*metrics.ServerStart{byName, bySocket} {
		if got == nil || got.By != "listener" || got.PID != os.Getpid() || got.ID != byName.ID || got.Version != "" {
			t.Errorf("%+v, want this process", got)
		}
	}
}

// Two replicas have two starts, and a server in memory has none.
func TestARunOnSeveralServersHasNoStart(t *testing.T) {
	one, two := httptest.NewServer(served(t, nil)), httptest.NewServer(served(t, nil))
	defer one.Close()
	defer two.Close()
	if got := startOf(t, &Plan{Server: Server{BaseURL: one.URL}, Watch: Watch{URLs: []string{one.URL, two.URL}}}); got != nil {
		t.Errorf("the start of two replicas is %+v", got)
	}
	other := startOf(t, &Plan{Server: Server{BaseURL: one.URL}, Watch: Watch{URLs: []string{two.URL}}})
	if direct := startOf(t, &Plan{Server: Server{BaseURL: two.URL}}); other == nil || direct == nil || other.ID != direct.ID || other.PID != 0 {
		t.Errorf("the only replica behind a proxy is %+v, want %+v", other, direct)
	}
	synctest.Test(t, func(t *testing.T) {
		if got := startOf(t, onHandler(t)); got != nil {
			t.Errorf("a handler has the start %+v", got)
		}
	})
}

// A server that restarts during the load and does not say when it started is another process.
func TestAnotherListenerAfterTheLoadIsARestart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which process listens")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here, gone := "http://"+l.Addr().String(), "http://127.0.0.1:1"
	for _, c := range []struct {
		url    string
		before *metrics.ServerStart
		want   string
	}{
		{here, nil, ""}, {here, &metrics.ServerStart{ID: "1"}, ""}, {here, &metrics.ServerStart{PID: os.Getpid()}, ""}, {gone, &metrics.ServerStart{PID: 1}, ""},
		{here, &metrics.ServerStart{PID: 1}, fmt.Sprintf("process 1 listened at its address before the load, and process %d after it", os.Getpid())},
	} {
		p := sources.Process{Target: watchedOf(&Plan{Server: Server{BaseURL: c.url}}), Start: c.before}
		if got := p.Restarted(); got != c.want {
			t.Errorf("%s, before %+v: %q, want %q", c.url, c.before, got, c.want)
		}
	}
}
