package cost

import (
	"math"
	"testing"
	"time"
)

const second = time.Second

// metered is a Meter of GPU 0 that reported these values of power or of its counter, one each second
// from 0 on. NaN is a lost report.
func metered(counter bool, values ...float64) *Meter {
	m := new(Meter)
	for i, v := range values {
		switch at := time.Duration(i) * second; {
		case math.IsNaN(v):
		case counter:
			m.Add(0, at, nil, &v)
		default:
			m.Add(0, at, &v, nil)
		}
	}
	return m
}

func TestEnergyIsTheAreaUnderThePower(t *testing.T) {
	lost := math.NaN()
	for name, c := range map[string]struct {
		meter    *Meter
		from, to time.Duration
		joules   float64
		unknown  string
	}{
		"whole pieces":              {metered(false, 100, 300, 200), 0, 2 * second, 200 + 250, ""},
		"clipped at both ends":      {metered(false, 100, 300, 200), second / 2, 3 * second / 2, 125 + 137.5, ""},
		"within one piece":          {metered(false, 100, 300, 200), second / 4, 3 * second / 4, 100, ""},
		"power holds after the end": {metered(false, 100, 300, 200), 0, 5 * second / 2, 450 + 100, ""},
		"power holds before":        {metered(false, lost, 100, 300, 200), 0, 3 * second, 100 + 450, ""},
		"a few reports lost":        {metered(false, 100, 100, 100, lost, lost, lost, lost, 200), 0, 7 * second, 200 + 750, ""},
		"too many lost":             {metered(false, 100, 100, 100, lost, lost, lost, lost, lost, 200), 0, 8 * second, 0, "GPU 0 reported nothing for 6.0 s"},
		"lost, but elsewhere":       {metered(false, 100, 100, 100, lost, lost, lost, lost, lost, 200), 0, 2 * second, 200, ""},
		"ends long before":          {metered(false, 100, 100, 100), 0, 9 * second, 0, "GPU 0 reported nothing for 7.0 s"},
		"half of it unseen":         {metered(false, 100, 100), 0, 3 * second, 0, "GPU 0 reported on only 1.0 of 3.0 s"},
		"one report":                {metered(false, 100), 0, second, 0, "GPU 0 reported no second value"},
		"negative power":            {metered(false, 100, -5, 100), 0, 2 * second, 200, ""},
		"counter":                   {metered(true, 1000, 1100, 1400), second / 2, 2 * second, 50 + 300, ""},
		"counter, lost reports":     {metered(true, 1000, lost, lost, 1300), second, 2 * second, 100, ""},
		"counter went back":         {metered(true, 1000, 1100, 50, 150), 0, 3 * second, 0, "GPU 0 has a counter of energy that went back"},
		// An exporter that reads the GPU every third second: its first value may be three seconds old.
		"stale counter":        {metered(true, 1000, 1000, 1300, 1300, 1300, 1900, 1900, 1900, 2200), 2 * second, 8 * second, 900, ""},
		"stale from the start": {metered(true, 1000, 1000, 1300, 1300, 1300, 1900, 1900, 1900, 2200), 0, 8 * second, 900 + 400, ""},
		"always stale":         {metered(true, 1000, 1000, 1000, 1000), 0, 3 * second, 0, "GPU 0 reported no second value"},
	} {
		got := c.meter.Curve().Energy(c.from, c.to)
		if got.Unknown != c.unknown || c.unknown == "" && math.Abs(got.Joules-c.joules) > 1e-9 || c.unknown != "" && !math.IsNaN(got.Joules) {
			t.Errorf("%s: %v J, unknown %q, want %v J, %q", name, got.Joules, got.Unknown, c.joules, c.unknown)
		}
	}
}

func TestEnergyOfSeveralGPUsAddsUp(t *testing.T) {
	m := metered(true, 0, 100, 200)
	for at := range 3 {
		watts := 50.0
		m.Add(7, time.Duration(at)*second, &watts, nil)
	}
	m.Add(8, second, nil, nil) // it says nothing, so it does not count
	e := m.Curve().Energy(0, 2*second)
	if e.Joules != 300 || e.GPUs != 2 || e.Counted || e.Seconds != 2 || e.Watts() != 150 || e.PerToken(600) != 0.5 || e.TokensPerJoule(600) != 2 {
		t.Errorf("%+v", e)
	}
	if e := m.Curve().Energy(0, 9*second); e.Unknown != "GPU 0 reported nothing for 7.0 s" || !math.IsNaN(e.Watts()) {
		t.Errorf("%+v", e)
	}
	if e := metered(true, 0, 100).Curve().Energy(0, second); !e.Counted {
		t.Errorf("%+v", e)
	}
}

// Some GPUs report a counter that never moves, as of 0 J: then their power counts.
func TestACounterThatStandsStillLosesToPower(t *testing.T) {
	var m Meter
	for at := range 3 {
		watts, joules := 50.0, 0.0
		m.Add(0, time.Duration(at)*second, &watts, &joules)
	}
	if e := m.Curve().Energy(0, 2*second); e.Joules != 100 || e.Counted || e.Unknown != "" {
		t.Errorf("%+v", e)
	}
}

// A counter beats the power that the same GPU reports.
func TestCounterBeatsPower(t *testing.T) {
	m := new(Meter)
	for at := range 3 {
		watts, joules := 1.0, 100*float64(at)
		m.Add(0, time.Duration(at)*second, &watts, &joules)
	}
	if e := m.Curve().Energy(0, 2*second); e.Joules != 200 || !e.Counted {
		t.Errorf("%+v", e)
	}
}

func TestMergedReadingsAreOnOneClock(t *testing.T) {
	m := metered(false, 100, 100)
	m.Merge(metered(false, 300, 300), 2*second)
	if e := m.Curve().Energy(0, 3*second); e.Joules != 100+200+300 {
		t.Errorf("%+v", e)
	}
}

func TestNothingIsKnownWithoutTokens(t *testing.T) {
	e := Energy{Joules: 5, Seconds: 1}
	if !math.IsNaN(e.PerToken(0)) || !math.IsNaN(e.PerToken(-1)) || e.TokensPerJoule(0) != 0 || !math.IsNaN(PerMillion(1, 0)) {
		t.Errorf("%v, %v, %v", e.PerToken(0), e.TokensPerJoule(0), PerMillion(1, 0))
	}
}

func TestPriceOfAMillionTokens(t *testing.T) {
	for text, want := range map[string]Price{"2.10/h": 2.1, "$2.10/h": 2.1, " 3 ": 3, "0.5": 0.5} {
		if got, err := ParsePrice(text); got != want || err != nil {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "free", "0/h", "-1/h", "nan", "inf", "2/day", "2 EUR/h"} {
		if got, err := ParsePrice(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	// 2 GPUs at $1.80/h for 10 s are $0.01; 500 tok/s are $2 a million: 3.6/h / (500 · 3600) · 10⁶.
	if dollars := Price(1.8).Dollars(2, 10); math.Abs(dollars-0.01) > 1e-15 || math.Abs(PerMillion(dollars, 5000)-2) > 1e-12 {
		t.Errorf("%v, %v", dollars, PerMillion(dollars, 5000))
	}
}
