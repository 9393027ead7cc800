package arrivals

import (
	"encoding/json"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/metrics"
)

// A jsonFloat is a float64 that JSON may hold as the string "inf".
type jsonFloat float64

func (n *jsonFloat) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	*n = jsonFloat(f)
	return err
}

type arrivalCase struct {
	Seed   int64
	N      int
	Params struct {
		Rate       jsonFloat `json:"request_rate"`
		Burstiness jsonFloat
		Strategy   string `json:"ramp_up_strategy"`
		Start      int    `json:"ramp_up_start_rps"`
		End        int    `json:"ramp_up_end_rps"`
	}
	RawGaps   []jsonFloat `json:"raw_gaps_s"`
	Arrivals  []jsonFloat `json:"arrival_s"`
	Rates     []jsonFloat
	Exception string
}

func (c arrivalCase) arrivals() Process {
	a := Process{Rate: float64(c.Params.Rate), Burstiness: float64(c.Params.Burstiness), Seed: c.Seed}
	if c.Params.Strategy != "" {
		a.RampUp = &metrics.RampUp{Strategy: c.Params.Strategy, Start: c.Params.Start, End: c.Params.End}
	}
	return a
}

func TestArrivalsAreThoseOfTheRealProgram(t *testing.T) {
	data, err := os.ReadFile("../../testdata/golden/arrivals.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cases []arrivalCase }
	if err := json.Unmarshal(data, &golden); err != nil || len(golden.Cases) == 0 {
		t.Fatal("no cases", err)
	}
	for i, c := range golden.Cases {
		a := c.arrivals()
		offsets, err := a.Offsets(c.N)
		if c.Exception != "" {
			if err == nil {
				t.Errorf("case %d: no error, want one for: %s", i, c.Exception)
			}
			continue
		}
		if err != nil {
			t.Errorf("case %d: %v", i, err)
			continue
		}
		sameFloats(t, i, "arrivals", offsets, c.Arrivals)
		if len(c.RawGaps) > 0 {
			sameFloats(t, i, "gaps", a.gaps(c.N), c.RawGaps)
		}
		sameFloats(t, i, "rates", func(yield func(float64) bool) {
			for k := range c.N {
				if !yield(a.rate(k, c.N)) {
					return
				}
			}
		}, c.Rates)
	}
}

func sameFloats(t *testing.T, i int, what string, got iter.Seq[float64], want []jsonFloat) {
	t.Helper()
	if list := slices.Collect(got); !slices.EqualFunc(list, want, func(g float64, w jsonFloat) bool { return g == float64(w) }) {
		t.Errorf("case %d, %s:\n got %v\nwant %v", i, what, list, want)
	}
}

func TestArrivalsAreRefusedWhenTheyNeverCome(t *testing.T) {
	ramp := func(strategy string, start, end int) *metrics.RampUp {
		return &metrics.RampUp{Strategy: strategy, Start: start, End: end}
	}
	for _, row := range []struct {
		arrivals Process
		want     string
	}{
		{Process{Burstiness: 1}, "request rate 0: must be above 0, or inf"},
		{Process{Rate: -1, Burstiness: 1}, "request rate -1: must be above 0, or inf"},
		{Process{Rate: math.NaN(), Burstiness: 1}, "request rate NaN: must be above 0, or inf"},
		{Process{Rate: 1}, "burstiness 0: must be above 0, or inf"},
		{Process{Rate: 1, Burstiness: 1, Seed: -1}, "seed -1: must be between 0 and 4294967295"},
		{Process{Burstiness: 1, RampUp: ramp("cubic", 1, 2)}, `ramp-up strategy "cubic": must be linear or exponential`},
		{Process{Burstiness: 1, RampUp: ramp("linear", 0, 5)}, "ramp-up from 0 to 5 requests/s: both rates must be above 0"},
		{Process{Burstiness: 1, RampUp: ramp("exponential", 1, 0)}, "ramp-up from 1 to 0 requests/s: both rates must be above 0"},
	} {
		if _, err := row.arrivals.Schedule(3); err == nil || err.Error() != row.want {
			t.Errorf("%+v: error %v, want %s", row.arrivals, err, row.want)
		}
	}
}

func TestScheduleIsTheSameEachTime(t *testing.T) {
	schedule, err := Process{Rate: 10, Burstiness: 1}.Schedule(5)
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{92258660, 237847554, 344868610, 436121845, 500000000}
	for range 2 {
		if got := slices.Collect(iter.Seq[time.Duration](schedule)); !slices.Equal(got, want) {
			t.Errorf("schedule %v, want %v", got, want)
		}
	}
}

func TestScheduleDoesNotOverflow(t *testing.T) {
	schedule, err := Process{Rate: 1e-300, Burstiness: math.Inf(1)}.Schedule(1)
	if err != nil {
		t.Fatal(err)
	}
	for due := range schedule {
		if due != math.MaxInt64 {
			t.Errorf("due after %v, want the longest duration", due)
		}
	}
}

func TestRateRisesAtEachWholeNumber(t *testing.T) {
	a := Process{Burstiness: math.Inf(1), RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 4}}
	got, err := a.RateRises(4)
	if err != nil {
		t.Fatal(err)
	}
	want := []RateRise{
		{1, 0, 0},
		{2, 1, 1500 * time.Millisecond},
		{3, 2, 1833333333},
		{4, 3, 2083333333},
	}
	if !slices.Equal(got, want) {
		t.Errorf("rises %v, want %v", got, want)
	}
	a.RampUp.Start, a.RampUp.End = 2, 4
	if got, err = a.RateRises(2); err != nil || len(got) != 3 || got[1].Index != 1 || got[2].Index != 1 {
		t.Errorf("a jump from 2 to 4 gives %v (%v), want 3 and 4 at request 1", got, err)
	}
	if got, err = (Process{Rate: 5, Burstiness: 1}).RateRises(4); err != nil || got != nil {
		t.Errorf("a constant rate rises %v (%v)", got, err)
	}
}

// The times are numpy 1.24.2's: np.random.seed(0), randint(0, 1000, 10), and then
// what the real program draws for four requests at 10 a second.
func TestArrivalsGoOnFromWhereTheDatasetEnded(t *testing.T) {
	rng := nprand.NewRandomState(0)
	for range 10 {
		rng.Intn(1000)
	}
	drawn := rng.Drawn()
	offsets, err := Process{Rate: 10, Burstiness: 1, Start: rng}.Offsets(4)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0.0580616660663898, 0.0902490227848409, 0.21460521030708435, 0.4}
	if got := slices.Collect(offsets); !slices.Equal(got, want) {
		t.Errorf("due at %v, want %v", got, want)
	}
	if rng.Drawn() != drawn {
		t.Error("the generator that was handed over has moved")
	}
}

// Up to v0.9.2 the first request was sent at once and a gap waited for behind
// each, the last one, too. The gaps are those of numpy's generator at seed 0, so
// that the draws are the ones that the golden file holds for the rule of today.
func TestFormerArrivalsAreTheGapsAsDrawn(t *testing.T) {
	a := Process{Rule: UpToV092, Rate: 10, Burstiness: 1}
	const n = 1000
	gaps := slices.Collect(a.gaps(n))
	offsets, err := a.Offsets(n)
	if err != nil {
		t.Fatal(err)
	}
	got, at := slices.Collect(offsets), 0.0
	for i, gap := range gaps {
		if got[i] != at {
			t.Fatalf("request %d is due at %v, want %v", i, got[i], at)
		}
		at += gap
	}
	if lasts, err := a.Lasts(n); err != nil || lasts != dataset.Seconds(at) {
		t.Errorf("the run lasts %v, %v, want %v", lasts, err, dataset.Seconds(at))
	}
	if math.Abs(got[n-1]-100.24) > .005 { // what kvcached's documents were made with
		t.Errorf("the last request is due at %v s, want 100.24", got[n-1])
	}
	a.Rule = SinceV010
	if lasts, err := a.Lasts(n); err != nil || lasts != 0 {
		t.Errorf("today's rule keeps a run going for %v, %v", lasts, err)
	}
	for _, wrong := range []Process{
		{Rule: "0.8", Rate: 1, Burstiness: 1},
		{Rule: UpToV092, Burstiness: 1, RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 2}},
	} {
		if _, err := wrong.Offsets(1); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}
