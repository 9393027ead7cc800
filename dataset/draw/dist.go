// Package draw has distributions, and draws from them that depend on a key alone.
package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
)

// A Dist is a distribution of lengths, counts or seconds. The zero value is always 0.
type Dist struct {
	Kind   string  // a name in the table of ParseDist; empty is constant
	First  float64 // the parameter that comes first there
	Second float64 // the other one
	Min    float64 // smaller draws become Min
	Max    float64 // greater draws become Max; 0: no limit
}

// kinds are the distributions, with the names of their parameters.
var kinds = []struct {
	name   string
	params []string
}{
	{"constant", []string{"value"}},
	{"uniform", nil}, // from min to max
	{"normal", []string{"mean", "sigma"}},
	{"lognormal", []string{"mean", "sigma"}},
	{"poisson", []string{"mean"}},
	{"exponential", []string{"mean"}},
	{"zipf", []string{"alpha"}},
}

// ParseDist reads a distribution:
//
//	512                               always 512
//	uniform:min=1,max=9               each number from 1 to 9, whole ones if lengths are drawn
//	normal:mean=500,sigma=100
//	lognormal:mean=500,sigma=0.6      the mean of the draws, and sigma of their logarithms
//	poisson:mean=4
//	exponential:mean=20
//	zipf:alpha=1.5                    1 is the likeliest, k is k^alpha times less likely
//
// All take min and max, which bound the draws.
func ParseDist(text string) (Dist, error) {
	if value, err := strconv.ParseFloat(text, 64); err == nil {
		text = fmt.Sprintf("constant:value=%v", value)
	}
	d := Dist{}
	name, params, _ := strings.Cut(text, ":")
	k := slices.IndexFunc(kinds, func(k struct {
		name   string
		params []string
	}) bool {
		return k.name == name
	})
	if k < 0 {
		return d, fmt.Errorf("distribution %q: must be a number, or constant, uniform, normal, lognormal, poisson, "+
			"exponential or zipf with its parameters, such as lognormal:mean=500,sigma=0.6", text)
	}
	d.Kind = name
	given := map[string]bool{}
	for param := range strings.SplitSeq(params, ",") {
		key, value, _ := strings.Cut(param, "=")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return d, fmt.Errorf("distribution %q: %q is not a parameter and its number, such as mean=500", text, param)
		}
		switch i := slices.Index(kinds[k].params, key); {
		case i == 0:
			d.First = number
		case i == 1:
			d.Second = number
		case key == "min":
			d.Min = number
		case key == "max":
			d.Max = number
		default:
			return d, fmt.Errorf("distribution %q: %s has no parameter %q", text, name, key)
		}
		given[key] = true
	}
	needs := kinds[k].params
	if needs == nil {
		needs = []string{"min", "max"}
	}
	for _, key := range needs {
		if !given[key] {
			return d, fmt.Errorf("distribution %q: %s needs %s", text, name, key)
		}
	}
	if err := d.Check(); err != nil {
		return d, fmt.Errorf("distribution %q: %w", text, err)
	}
	return d, nil
}

// Check refuses what cannot be drawn. No draw is negative.
func (d Dist) Check() error {
	switch {
	case d.Min < 0:
		return fmt.Errorf("min is %v: must not be negative", d.Min)
	case (d.Max != 0 || d.Kind == "uniform") && d.Max < d.Min:
		return fmt.Errorf("max is %v: must not be below min", d.Max)
	case d.Kind == "zipf" && d.First <= 1:
		return fmt.Errorf("alpha is %v: must be above 1", d.First)
	case d.Kind == "lognormal" && d.First <= 0:
		return fmt.Errorf("mean is %v: must be above 0", d.First)
	case d.First < 0 || d.First > 1<<31:
		return fmt.Errorf("%v is out of range: must not be negative, and at most %d", d.First, 1<<31)
	case d.Second < 0 || d.Second > 1<<31:
		return fmt.Errorf("sigma is %v: must not be negative", d.Second)
	}
	return nil
}

// String is the distribution as ParseDist reads it.
func (d Dist) String() string {
	params := []string{}
	for _, k := range kinds {
		for i, name := range k.params {
			if k.name == d.Kind {
				params = append(params, fmt.Sprintf("%s=%v", name, [2]float64{d.First, d.Second}[i]))
			}
		}
	}
	if d.Min != 0 || d.Kind == "uniform" {
		params = append(params, fmt.Sprintf("min=%v", d.Min))
	}
	if d.Max != 0 || d.Kind == "uniform" {
		params = append(params, fmt.Sprintf("max=%v", d.Max))
	}
	if d.Kind == "" || d.Kind == "constant" && len(params) == 1 {
		return fmt.Sprint(d.First)
	}
	return d.Kind + ":" + strings.Join(params, ",")
}

// Draw draws a number that is not negative.
func (d Dist) Draw(r *Draws) float64 {
	x := d.First
	switch d.Kind {
	case "uniform":
		x = d.Min + float64((d.Max-d.Min)*r.Random())
	case "normal":
		x += float64(d.Second * r.normal())
	case "lognormal":
		mean := nprand.Log(d.First) - float64(d.Second*d.Second)/2
		x = nprand.Exp(mean + float64(d.Second*r.normal()))
	case "poisson":
		x = float64(nprand.Poisson(r, d.First))
	case "exponential":
		x = float64(-d.First * nprand.Log(1-r.Random()))
	case "zipf":
		x = float64(nprand.Zipf(r, d.First))
	}
	if d.Max != 0 {
		x = min(x, d.Max)
	}
	return max(x, d.Min, 0)
}

// Whole draws a whole number, at least least.
func (d Dist) Whole(r *Draws, least int) int {
	if d.Kind == "uniform" {
		low, high := math.Ceil(d.Min), math.Floor(d.Max)
		return max(least, int(low+math.Floor(r.Random()*(high-low+1))))
	}
	return max(least, int(math.Round(min(d.Draw(r), math.MaxInt32))))
}
