package arrivals

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/metrics"
)

func mustCurve(t *testing.T, spec string) *Curve {
	t.Helper()
	c, err := ParseCurve(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// even are the due times of n evenly spaced requests by a curve.
func even(t *testing.T, spec string, n int) []time.Duration {
	t.Helper()
	schedule, err := Process{Curve: mustCurve(t, spec), Burstiness: math.Inf(1)}.Schedule(n)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect((func(func(time.Duration) bool))(schedule))
}

func TestCurveHasTheNthRequestWhereItsIntegralReachesN(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "rates.csv")
	if err := os.WriteFile(csv, []byte("# measured\nseconds, rate\n0, 0\n10, 10\n20, 0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	for _, row := range []struct {
		spec string
		end  time.Duration
		all  int                   // requests until the end
		due  map[int]time.Duration // by number from 1
	}{
		// Nothing in the first second, one at 2 s, two by 3 s, three by 4 s, two by 5 s, one by 6 s.
		{"up-down:0,3,1", 6 * time.Second, 9, map[int]time.Duration{1: 2000 * ms, 2: 2500 * ms, 3: 3000 * ms, 6: 4000 * ms, 7: 4500 * ms, 9: 6000 * ms, 11: 8000 * ms}},
		{"up-down:0,20,1,step=1", 40 * time.Second, 400, map[int]time.Duration{210: 21 * time.Second, 400: 40 * time.Second}},
		{"up-down:0,5,step=2", 4 * time.Second, 11, map[int]time.Duration{2: 2000 * ms, 6: 3000 * ms, 11: 4000 * ms}},
		{"up-down:4,4", time.Second, 4, map[int]time.Duration{4: time.Second, 8: 2 * time.Second}},
		// The area under a line from 0 is t²/2; under 10 to 0 in 10 s, 10t − t²/2.
		{"points:0s=0,20s=20,39s=1", 39 * time.Second, 399, map[int]time.Duration{2: 2000 * ms, 50: 10 * time.Second, 200: 20 * time.Second, 400: 39500 * ms}},
		{"csv:" + csv, 20 * time.Second, 100, map[int]time.Duration{8: 4 * time.Second, 50: 10 * time.Second, 68: 12 * time.Second, 100: 20 * time.Second}},
		{"csv-steps:" + csv, 20 * time.Second, 100, map[int]time.Duration{1: 10100 * ms, 100: 20 * time.Second}},
		{"steps:0s=5,1m=10,120=5", 2 * time.Minute, 900, map[int]time.Duration{1: 200 * ms, 300: time.Minute, 301: 60100 * ms, 900: 2 * time.Minute, 905: 121 * time.Second}},
		{"steps:0=2,1=0,3=2,4=0", 4 * time.Second, 4, map[int]time.Duration{2: time.Second, 3: 3500 * ms, 4: 4 * time.Second}},
		// Half a period has amplitude·period/π more than the mean's.
		{"sine:mean=5,amplitude=3.141592653589793,period=4s", 0, 0, map[int]time.Duration{14: 2 * time.Second, 20: 4 * time.Second, 34: 6 * time.Second}},
	} {
		c := mustCurve(t, row.spec)
		if c.End() != row.end || c.String() != row.spec {
			t.Errorf("%s: ends at %v, want %v; says %s", row.spec, c.End(), row.end, c)
		}
		if n, err := (Process{Curve: c, Burstiness: math.Inf(1)}).Count(row.end); n != row.all || err != nil {
			t.Errorf("%s: %d requests until its end, %v; want %d", row.spec, n, err, row.all)
		}
		due := even(t, row.spec, 1000)
		for n, want := range row.due {
			if len(due) < n || due[n-1] != want {
				t.Errorf("%s: request %d due at %v, want %v", row.spec, n, due[min(n, len(due))-1], want)
			}
		}
	}
}

func TestCurveThatEndsAtNoughtHasNoMoreRequests(t *testing.T) {
	if n := len(even(t, "points:0=4,1=4,2=0", 1000)); n != 6 {
		t.Errorf("%d requests, want 6", n)
	}
}

// The integral's inverse is its inverse: at each due time the integral is what the
// gaps, numpy's, came to.
func TestCurvesGapsAreNumpys(t *testing.T) {
	for _, spec := range []string{"up-down:0,20,1", "points:0=3,7=0.5,20=9", "sine:mean=10,amplitude=10,period=7s", "steps:0=0,3=8,5=0,9=1"} {
		for _, burstiness := range []float64{0.5, 1, 3} {
			c := mustCurve(t, spec)
			rng, reached := nprand.NewRandomState(7), 0.0
			offsets, err := Process{Curve: c, Burstiness: burstiness, Seed: 7, Start: nprand.NewRandomState(8)}.Offsets(150)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for due := range offsets {
				n++
				reached += rng.Gamma(burstiness, 1/burstiness)
				if got := c.requests(due); math.Abs(got-reached) > 1e-7 {
					t.Fatalf("%s, burstiness %v: %v requests until request %d at %v s, want %v", spec, burstiness, got, n, due, reached)
				}
			}
			if n != 150 {
				t.Errorf("%s: %d requests", spec, n)
			}
		}
	}
}

func TestCountIsWhatFillsATime(t *testing.T) {
	inf := math.Inf(1)
	for _, row := range []struct {
		a    Process
		d    time.Duration
		want int
	}{
		{Process{Rate: 10, Burstiness: 1}, 2 * time.Second, 20},
		{Process{Rate: 10, Burstiness: 1}, 2001 * time.Millisecond, 21},
		{Process{Curve: mustCurve(t, "steps:0=5,10=1"), Burstiness: inf}, 12 * time.Second, 52},
		{Process{Curve: mustCurve(t, "steps:0=5,10=1"), Burstiness: inf}, 3100 * time.Millisecond, 15},
	} {
		if got, err := row.a.Count(row.d); got != row.want || err != nil {
			t.Errorf("%+v: %d, %v; want %d", row.a, got, err, row.want)
		}
	}
	for _, a := range []Process{{Rate: inf, Burstiness: 1}, {Curve: mustCurve(t, "steps:0=1e8,1=1e8"), Burstiness: inf}} {
		if _, err := a.Count(time.Hour); err == nil || !strings.HasPrefix(err.Error(), "more than 100000000 requests in 1h") {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func TestRampReachesItsEndAsTheTimeThatItFillsDoes(t *testing.T) {
	for _, strategy := range []string{"linear", "exponential"} {
		for _, rates := range [][2]int{{2, 20}, {5, 5}, {30, 60}} {
			a := Process{RampUp: &metrics.RampUp{Strategy: strategy, Start: rates[0], End: rates[1]}, Burstiness: math.Inf(1)}
			n, err := a.Count(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			offsets, err := a.Offsets(n)
			if err != nil {
				t.Fatal(err)
			}
			last := 0.0
			for last = range offsets {
			}
			if math.Abs(last-60) > 0.3 {
				t.Errorf("%s from %v: the last of %d is due at %v s", strategy, rates, n, last)
			}
		}
	}
}

func TestCurvesAreRefusedByWhatIsWrongWithThem(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "c.csv")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ParseCurve("csv:" + name)
		if err == nil {
			return ""
		}
		return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	}
	for text, want := range map[string]string{
		"seconds,rate\n0,1\n5,x\n": `csv: c.csv:3: "x": a rate must be a number`,
		"0,1\n\n5,1,2\n":           "csv: c.csv:3: it must have two columns, seconds and rate, and has 3",
		"0,1\n0,2\n":               "csv: c.csv:2: 0: times must increase",
		"a,b\nc,d\n":               `csv: c.csv:2: "c": a time must be seconds`,
		"0,\"1\n":                  "csv: c.csv:",
		"# nothing\n":              "csv: c.csv: it needs two points or more",
	} {
		if got := file(text); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for spec, want := range map[string]string{
		"5":                                      `"5": it must be one of up-down:`,
		"zigzag:1":                               `"zigzag:1": it must be one of`,
		"up-down:5":                              "up-down: it needs two values or more",
		"up-down:0,x":                            `up-down: "x": a rate must be a number from 0`,
		"up-down:0,5,step=0":                     "up-down: step=0: the step must be a number greater than 0",
		"up-down:0,1e8,step=1e-3":                "up-down: it has more than 1048576 pieces",
		"up-down:0,0":                            "up-down: all its rates are 0",
		"points:0=1":                             "points: it needs two points or more",
		"points:1=1,2=2":                         "points: 1: the first time must be 0",
		"points:0=1,2":                           `points: "2": a point is TIME=RATE`,
		"points:0=1,2=-1":                        `points: "-1": a rate must be`,
		"points:0=1,2=inf":                       `points: "inf": a rate must be`,
		"points:0=1,-2s=1":                       `points: "-2s": a time must be`,
		"points:0=1,nan=1":                       `points: "nan": a time must be`,
		"points:0=1,1e9=1e8":                     "points: it asks for more than 100000000 requests",
		"steps:0=0,9=0":                          "steps: all its rates are 0",
		"sine:mean=10":                           "sine: it needs mean, amplitude and period",
		"sine:mean=1,amplitude=2,period=1":       "sine: an amplitude of 2 takes the rate below 0",
		"sine:mean=0,amplitude=0,period=1":       "sine: the mean must be greater than 0",
		"sine:mean=1,amplitude=1,period=0":       "sine: the period must be greater than 0",
		"sine:mean=1,amplitude=1,period=1,phi=2": `sine: "phi=2": it takes mean, amplitude and period`,
		"csv:" + filepath.Join(dir, "none"):      "csv: open ",
	} {
		if _, err := ParseCurve(spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	for _, a := range []Process{{Rule: UpToV092}, {RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 2}}} {
		a.Curve, a.Burstiness = mustCurve(t, "up-down:1,2"), 1
		if _, err := a.Schedule(1); err == nil || !strings.Contains(err.Error(), "a rate curve goes with no") {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func TestBeginningIsTheFirstRateThatThereIs(t *testing.T) {
	for spec, want := range map[string]float64{
		"up-down:0,20,1": 1, "points:0=0,20=20": 10, "steps:0=0,60=7,70=1": 7, "points:0=3,9=0": 3, "steps:0=0,60=5": 5,
		"sine:mean=4,amplitude=1,period=9": 4,
	} {
		if got := mustCurve(t, spec).Beginning(); got != want {
			t.Errorf("%s begins at %v, want %v", spec, got, want)
		}
	}
}

func FuzzParseCurve(f *testing.F) {
	for _, spec := range []string{
		"up-down:0,20,1,step=1", "points:0s=0,20s=20,39s=1", "steps:0s=5,60s=10,120s=5", "sine:mean=10,amplitude=8,period=60s",
		"0,0\n5,1\n", "seconds,rate\n# x\n0,1\n1,\"2\"\n", "up-down:1,1e8,step=1e-300", "points:0=0,1e-9=1e8", "sine:mean=1e-300,amplitude=0,period=1e-9",
	} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if form, _, _ := strings.Cut(text, ":"); form == "csv" || form == "csv-steps" {
			return // what follows is the name of a file
		}
		c, err := ParseCurve(text)
		if err != nil {
			c = new(Curve)
			if c.readCSV("f", strings.NewReader(text), len(text)%2 == 0) != nil || c.check() != nil {
				return
			}
		}
		last := 0.0
		offsets, err := Process{Curve: c, Burstiness: 1}.Offsets(50)
		if err != nil {
			t.Fatal(err)
		}
		for due := range offsets {
			if !(due >= last) {
				t.Fatalf("due at %v after %v", due, last)
			}
			last = due
		}
	})
}

// Of gaps so uneven most are less than the smallest number there is.
func TestNoGapAtAllIsADueTime(t *testing.T) {
	for _, spec := range []string{"points:0s=0,10s=10", "up-down:0,3", "sine:mean=5,amplitude=5,period=10s"} {
		schedule, err := Process{Curve: mustCurve(t, spec), Burstiness: 1e-4}.Schedule(3)
		if err != nil {
			t.Fatal(err)
		}
		for due := range schedule {
			if due > 100*365*24*time.Hour {
				t.Errorf("%s: due at %v", spec, due)
			}
			break
		}
	}
}
