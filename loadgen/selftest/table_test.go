package selftest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", name, got)
	}
}

// measured is a result of round figures: one good row, one void, one that is off
// and two of starts, on a system that tells all or nothing.
func measured(telling bool) *Result {
	known := func(v float64) *float64 {
		if !telling {
			return nil
		}
		return &v
	}
	steps := func(n int, step, error float64) Row {
		row := Row{
			Name: Steps(n, time.Second).Name, Load: "steps", Streams: n, StepMS: step, Events: int64(n) * 200, PerS: float64(n) * 1000 / step,
			Stamp: Spread{n * 160, 3, 24 * error, 46 * error, 319 * error},
			TTFT:  Spread{n, 180, 2400 * error, 3000 * error, 9999 * error},
			ITL:   Spread{n * 159, 1, 26 * error, 51 * error, 320 * error},
			CPU:   9.25, ServerCPU: 7.5, RSS: known(38.4), Disturbance: Disturbance{Others: known(3.25), Stolen: known(0.5)},
		}
		if telling {
			row.Kernel = 100
		}
		return row
	}
	r := &Result{
		Version: "1.2.3", Date: time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC), Host: "bench", System: "linux/amd64", Cores: 2,
		Limits: NewResult("1.2.3").Limits,
		Rows:   []Row{steps(64, 20, 1), steps(256, 20, 1), steps(1024, 25, 1), steps(2048, 50, 40)},
		Left:   []string{"4096 per 100 ms: 4096 requests at once need 4160 file descriptors and the limit is 4096"},
	}
	r.Rows[1].Others, r.Rows[1].Void = known(22.1), "others took 22 % of a core"
	r.Rows[3].Shared, r.Rows[3].Late, r.Rows[3].Beyond = 12.345, 3.21, 2
	burst, poisson := steps(1024, 20, 1), steps(1024, 20, 2)
	burst.Name, burst.Load = "1024 at once", "at-once"
	burst.MeanTTFT, burst.P99TTFT, burst.P99ITL = Pair{51.23, 50.11}, Pair{60.5, 55.25}, Pair{23.1, 23.05}
	poisson.Name, poisson.Load, poisson.Failed, poisson.Failure = "1024 Poisson", "poisson", 3, "the connection was cut"
	poisson.MeanTTFT, poisson.P99TTFT, poisson.P99ITL = Pair{50.4, 50.1}, Pair{52, 51}, Pair{21.5, 21.25}
	r.Rows = append(r.Rows, burst, poisson)
	if !telling {
		r.Rows, r.Left = r.Rows[:1], []string{}
		r.Rows[0].CPU = 0
	}
	r.judge()
	return r
}

func TestAResultIsWritten(t *testing.T) {
	for name, r := range map[string]*Result{"told": measured(true), "untold": measured(false)} {
		var text, object bytes.Buffer
		r.WriteHead(&text)
		if err := r.WriteTables(&text); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", text.Bytes())
		if err := r.WriteJSON(&object); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", object.Bytes())
	}
}

// On a machine that is busy with other things errors take seconds.
func TestNumbersOfABadMachineStandApart(t *testing.T) {
	r := measured(true)
	r.Rows[0].Stamp, r.Rows[0].TTFT = Spread{P50: 6, P99: 65456, P999: 5171504, Max: 12498305}, Spread{P50: 561242474, P99: 1, P999: 2, Max: 3}
	var text bytes.Buffer
	if err := r.WriteTables(&text); err != nil {
		t.Fatal(err)
	}
	if want := "6  65456 5171504 12498305 561242474      1      2      3"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, &text)
	}
}
