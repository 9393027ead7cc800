package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/compare"
)

func named(t *testing.T, name string) noise {
	t.Helper()
	all, err := allNoises()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		if n.name == name {
			return n
		}
	}
	t.Fatalf("there is no noise %s", name)
	return noise{}
}

// The gate as it was had these rates in experiments of others' making: false alarms with one side
// after the other, and effects of 10 % found, with four runs a side. The bounds are those of 200
// trials.
func TestGateBeforeIsRebuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	one := designs()[3]
	for _, c := range []struct {
		noise               string
		alike, worse, spare int
	}{
		{"iid 3 %", 1, 88, 7}, {"iid 5 %", 3, 49, 10}, {"iid 8 %", 4, 22, 9}, {"AR(1) 0.8, 3 %", 7, 98, 6},
		{"AR(1) 0.8, 5 %", 20, 80, 9}, {"drift 10 %, 1 %", 98, 100, 3}, {"sticky bimodal 8 %", 13, 85, 9},
	} {
		for effect, want := range map[float64]int{0: c.alike, 0.1: c.worse} {
			got := cell{named(t, c.noise), one, 4, 0.05, effect}.try(1, 200)[1][compare.Regressed] / 2
			if got < want-c.spare || got > want+c.spare {
				t.Errorf("%s, effect %v: %d %% REGRESSED, want about %d %%", c.noise, effect, got, want)
			}
		}
	}
}

// moments are the mean and the standard deviation of a noise's second number, and the correlation
// of neighbours, over many sessions.
func moments(n noise, d design, size int) (mean, sd, neighbours float64) {
	chance := rand.New(rand.NewPCG(3, 1))
	slots := d.slots(size)
	count, squares, products := 0.0, 0.0, 0.0
	for range 2000 {
		next, last := n.begin(chance, len(slots)), math.NaN()
		for _, s := range slots {
			v := next(s)[1]
			count, mean, squares = count+1, mean+v, squares+v*v
			if !math.IsNaN(last) {
				products += v * last
			}
			last = v
		}
	}
	mean /= count
	variance := squares/count - mean*mean
	pairs := count * float64(len(slots)-1) / float64(len(slots))
	return mean, math.Sqrt(variance), (products/pairs - mean*mean) / variance
}

func TestNoisesAreAsTheirNamesSay(t *testing.T) {
	state, once := math.Log(1.15), math.Log(1.3)
	for _, c := range []struct {
		name                 string
		mean, sd, neighbours float64
	}{
		{"iid 5 %", 0, 0.05, 0},
		{"AR(1) 0.8, 5 %", 0, 0.05, 0.8},
		{"drift 10 %, 1 %", math.Log(1.1) / 2, 0.0316, 0.74},
		{"step 15 %, 1 %", state / 2, 0.0680, 0.87},
		{"starts 5 %, runs 1 %", 0, 0.051, 0},
		{"sticky bimodal 15 %", state / 2, math.Hypot(state/2, 0.01), 0.78},
		{"a tenth of runs +30 %", once / 10, math.Hypot(0.03, once*0.3), 0},
		{"old 1 %, new 6 %", 0, 0.043, 0},
	} {
		mean, sd, neighbours := moments(named(t, c.name), designs()[0], 6)
		if math.Abs(mean-c.mean) > 0.003 || math.Abs(sd-c.sd) > 0.003 || math.Abs(neighbours-c.neighbours) > 0.05 {
			t.Errorf("%s: mean %.4f, sd %.4f, correlation of neighbours %.2f; want %.4f, %.4f, %.2f", c.name, mean, sd, neighbours, c.mean, c.sd, c.neighbours)
		}
	}
	// Runs on one start share its effect.
	if _, sd, neighbours := moments(named(t, "starts 5 %, runs 1 %"), designs()[4], 6); math.Abs(sd-0.051) > 0.003 || neighbours < 0.85 {
		t.Errorf("one start a side: sd %.4f, correlation of neighbours %.2f", sd, neighbours)
	}
}

// A recording of 40 starts, of which each is a bit slower than the one before: what is drawn goes up
// by one step from a start to the next, but for a tenth of them, where another stretch begins.
func TestNeighboursStayTogether(t *testing.T) {
	text := new(strings.Builder)
	text.WriteString("start,output_throughput,median_ttft,median_tpot\n")
	for i := range 40 {
		row := []string{string(rune('a' + i)), "1000", "", "10"}
		row[2] = strings.Repeat("1", i+1)
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	r, err := parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	next, broken := r.begin(rand.New(rand.NewPCG(1, 1)), 0), 0
	last := next(slot{})
	for start := 1; start <= 2000; start++ {
		f := next(slot{start: start})
		if f != next(slot{start: start}) {
			t.Fatal("two runs of one start with one recorded run differ")
		}
		if math.Abs(f[0])+math.Abs(f[2]) > 1e-9 {
			t.Fatalf("%v, of numbers that are always the same", f)
		}
		if step := f[1] - last[1]; step < 2.2 || step > 2.5 {
			broken++
		}
		last = f
	}
	// One in 20 by chance, and one in 40 at the end of the recording.
	if share := float64(broken) / 2000; share < 0.055 || share > 0.095 {
		t.Errorf("%.3f of the neighbours are none in the recording", share)
	}
}

func TestRecordingsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"start,output_throughput\n":                                     "no runs",
		"start,output_throughput\n1,2000\n":                             "no column for the start or for median_ttft",
		"start,output_throughput,median_ttft,median_tpot\n1,fast,3,4\n": "invalid syntax",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestWhatFivePercentMakesOfTrials(t *testing.T) {
	if n := tolerated(1000); n != 67 {
		t.Errorf("%d of 1,000", n)
	}
}
