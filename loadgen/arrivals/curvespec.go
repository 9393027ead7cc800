package arrivals

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	maxLegs     = 1 << 20     // of a curve
	maxRequests = 100_000_000 // until its end
	shortest    = 1e-9        // least seconds of a leg or a period
)

// CurveForms are the forms that ParseCurve reads.
const CurveForms = "up-down:0,20,1,step=1, points:0s=0,20s=20,39s=1, steps:0s=5,60s=10,120s=5, " +
	"sine:mean=10,amplitude=8,period=60s, csv:FILE or csv-steps:FILE"

// ParseCurve reads a curve, with rates in requests a second:
//
//	up-down:0,20,1,step=1       from value to value by the step, each rate lasts a second
//	points:0s=0,20s=20,39s=1    straight lines between the points
//	steps:0s=5,60s=10,120s=5    each rate lasts until the next point
//	sine:mean=10,amplitude=8,period=60s
//	csv:FILE, csv-steps:FILE    points or steps of a file with two columns, seconds and rate
//
// A time is a number of seconds or a Go duration, and the first is 0. An error in a file names the
// file and the line.
func ParseCurve(spec string) (*Curve, error) {
	form, rest, ok := strings.Cut(spec, ":")
	if !ok {
		return nil, fmt.Errorf("%q: it must be one of %s", spec, CurveForms)
	}
	c := &Curve{spec: spec}
	var err error
	switch form {
	case "up-down":
		err = c.readUpDown(rest)
	case "points", "steps":
		err = c.readPoints(rest, form == "steps")
	case "sine":
		err = c.readSine(rest)
	case "csv", "csv-steps":
		err = c.readFile(rest, form == "csv-steps")
	default:
		return nil, fmt.Errorf("%q: it must be one of %s", spec, CurveForms)
	}
	if err == nil && c.sine == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", form, err)
	}
	return c, nil
}

// add appends a leg that begins where the previous one ended.
func (c *Curve) add(to, start, end float64) error {
	from := 0.0
	if n := len(c.legs); n > 0 {
		from = c.legs[n-1].to
	}
	if len(c.legs) >= maxLegs {
		return fmt.Errorf("it has more than %d pieces", maxLegs)
	}
	l := leg{from: from, to: to, start: start, end: end, before: c.all}
	c.legs, c.all, c.last = append(c.legs, l), c.all+l.requests(), end
	return nil
}

func (c *Curve) check() error {
	switch {
	case c.all > maxRequests:
		return fmt.Errorf("it asks for more than %d requests", maxRequests)
	case c.all == 0 && c.last == 0:
		return errors.New("all its rates are 0")
	}
	return nil
}

func (c *Curve) readUpDown(text string) error {
	step := 1.0
	values, stepText, stepped := strings.Cut(text, ",step=")
	if stepped {
		var err error
		if step, err = parseRate(stepText); err != nil || step == 0 {
			return fmt.Errorf("step=%s: the step must be a number greater than 0", stepText)
		}
	}
	var turns []float64
	for value := range strings.SplitSeq(values, ",") {
		rate, err := parseRate(value)
		if err != nil {
			return err
		}
		turns = append(turns, rate)
	}
	if len(turns) < 2 {
		return errors.New("it needs two values or more, as in 0,20,1,step=1")
	}
	return c.climb(turns, step)
}

// climb goes from turn to turn, one second for each rate.
func (c *Curve) climb(turns []float64, step float64) error {
	rate := turns[0]
	hold := func() error { return c.add(float64(len(c.legs)+1), rate, rate) }
	if err := hold(); err != nil {
		return err
	}
	for i, to := range turns[1:] {
		from := turns[i]
		for k := 1.0; rate != to; k++ {
			if rate = min(to, from+float64(k*step)); to < from {
				rate = max(to, from-float64(k*step))
			}
			if err := hold(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Curve) readSine(text string) error {
	s := new(sine)
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "mean":
			s.mean, err = parseRate(value)
		case "amplitude":
			s.amplitude, err = parseRate(value)
		case "period":
			s.period, err = parseTime(value)
		default:
			return fmt.Errorf("%q: it takes mean, amplitude and period", part)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		given[key] = true
	}
	switch {
	case len(given) < 3:
		return errors.New("it needs mean, amplitude and period, as in mean=10,amplitude=8,period=60s")
	case s.mean == 0:
		return errors.New("the mean must be greater than 0")
	case s.amplitude > s.mean:
		return fmt.Errorf("an amplitude of %v takes the rate below 0: it must not be greater than the mean", s.amplitude)
	case s.period < shortest:
		return errors.New("the period must be greater than 0")
	}
	c.sine = s
	return nil
}

// parseRate reads requests a second.
func parseRate(text string) (float64, error) {
	rate, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(rate >= 0) || rate > maxRequests {
		return 0, fmt.Errorf("%q: a rate must be a number from 0 to %d", text, maxRequests)
	}
	return rate, nil
}

// parseTime reads a number of seconds or a Go duration, as seconds.
func parseTime(text string) (float64, error) {
	text = strings.TrimSpace(text)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(text)
		seconds = d.Seconds()
	}
	if err != nil || !(seconds >= 0) || seconds > math.MaxInt64/1e9 {
		return 0, fmt.Errorf("%q: a time must be seconds, or a number with a unit as in 90s or 5m", text)
	}
	return seconds, nil
}
