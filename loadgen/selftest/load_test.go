package selftest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// The test program is the server, too, when this variable says which.
const serverVariable = "SELFTEST_SERVER"

func TestMain(m *testing.M) {
	switch setting := os.Getenv(serverVariable); setting {
	case "":
		os.Exit(m.Run())
	case "refusing":
		refuse()
	case "strange":
		fmt.Println("hello")
	default:
		server := new(metronome.Server)
		if err := json.Unmarshal([]byte(setting), server); err != nil {
			panic(err)
		}
		if err := Serve(server, os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
	}
}

// refuse is a server that refuses all requests.
func refuse() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no room", http.StatusServiceUnavailable)
	}))
	fmt.Printf("%s%s\n", greeting, server.URL)
	io.Copy(io.Discard, os.Stdin)
	server.Close()
	fmt.Println("{}")
}

// another is this program as a server of that kind.
func another(kind string) Command {
	return func(*metronome.Server) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), serverVariable+"="+kind)
		return cmd
	}
}

func truthful(s *metronome.Server) *exec.Cmd {
	settings, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return another(string(settings))(s)
}

func TestALoadMeasuresARealServer(t *testing.T) {
	steps := Steps(8, 100*time.Millisecond)
	row, err := steps.Measure(t.Context(), truthful)
	if err != nil {
		t.Fatal(err)
	}
	const tokens = 6 // in 125 ms, every 20 ms
	if row.Name != "8 per 20 ms" || row.Load != "steps" || row.Streams != 8 || row.StepMS != 20 || row.Events != 8*tokens || row.TTFT.Samples != 8 {
		t.Errorf("got %+v", row)
	}
	if row.Failed != 0 || row.Failure != "" || row.Beyond != 0 || row.PerS <= 0 {
		t.Errorf("got %+v", row)
	}
	if n := row.Stamp.Samples; n == 0 || n > 8*(tokens-1) || n != row.ITL.Samples || row.Stamp.P50 > row.Stamp.Max {
		t.Errorf("stamp error %+v, ITL error %+v", row.Stamp, row.ITL)
	}
	if row.MeanTTFT.True <= 0 || row.P99ITL.True <= 0 {
		t.Errorf("mean TTFT %v, p99 ITL %v", row.MeanTTFT, row.P99ITL)
	}
}

func TestABadServerIsAnError(t *testing.T) {
	for _, row := range []struct {
		name   string
		server Command
		says   string
	}{
		{"that refuses all", another("refusing"), "all requests failed: "},
		{"that is another program", another("strange"), `starting the server: it said "hello\n": that is not where it listens`},
		{"that is not there", Program(t.TempDir() + "/none"), "starting the server: "},
	} {
		got, err := Steps(2, 50*time.Millisecond).Measure(t.Context(), row.server)
		if got != nil || err == nil || !strings.HasPrefix(err.Error(), row.says) {
			t.Errorf("a server %s: %v, %v; want %q", row.name, got, err, row.says)
		}
	}
}

func TestMeasuringEndsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if row, err := Steps(2, time.Hour).Measure(ctx, truthful); err == nil {
		t.Errorf("measured %+v", row)
	}
}

func TestLoadsHaveTheirShape(t *testing.T) {
	poisson, err := poisson(4 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		load     *Load
		name     string
		requests int
		last     time.Duration // when the last is due
		lasts    time.Duration
	}{
		{Steps(64, 4*time.Second), "64 per 20 ms", 64, time.Second - time.Second/64, 250*20*time.Millisecond + time.Second - time.Second/64},
		{atOnce(), "1024 at once", 1024, 0, 50*time.Millisecond + 64*20*time.Millisecond},
		{poisson, "1024 Poisson", 2610, 2610 * time.Second / 395, 2610*time.Second/395 + 50*time.Millisecond + 128*20*time.Millisecond},
	} {
		n, last := 0, time.Duration(0)
		for due := range row.load.Schedule {
			n, last = n+1, due
		}
		if row.load.Name != row.name || n != row.requests || n != row.load.Requests || last.Round(time.Microsecond) != row.last.Round(time.Microsecond) {
			t.Errorf("%s: %d of %d requests, the last at %v; want %s, %d and %v", row.load.Name, n, row.load.Requests, last, row.name, row.requests, row.last)
		}
		if got := row.load.Lasts().Round(time.Microsecond); got != row.lasts.Round(time.Microsecond) {
			t.Errorf("%s lasts %v, want %v", row.load.Name, got, row.lasts)
		}
	}
}

func TestAStepGivesTheServerTime(t *testing.T) {
	for n, want := range map[int]time.Duration{
		1: 20 * time.Millisecond, 819: 20 * time.Millisecond, 1024: 25 * time.Millisecond,
		2048: 50 * time.Millisecond, 4096: 100 * time.Millisecond,
	} {
		if got := Steps(n, time.Second).Server.ITL; got != want {
			t.Errorf("%d streams: a step of %v, want %v", n, got, want)
		}
	}
}
