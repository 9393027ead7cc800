package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A RangeRatio says how far lengths may be from the ones asked for: a length n is
// drawn from ⌊n(1−r)⌋ to ⌈n(1+r)⌉. Each ratio is at least 0 and below 1; at 0 all
// lengths are equal.
type RangeRatio struct{ Input, Output float64 }

// ParseRangeRatio reads the value of --random-range-ratio: one number for both
// lengths, or a JSON object like {"input": 0.2, "output": 0.7}.
func ParseRangeRatio(s string) (RangeRatio, error) {
	ratio, err := parseRangeRatio(strings.TrimSpace(s))
	if err == nil {
		err = ratio.check()
	}
	if err != nil {
		return RangeRatio{}, fmt.Errorf("range ratio %s: %w", s, err)
	}
	return ratio, nil
}

func parseRangeRatio(s string) (RangeRatio, error) {
	if !strings.HasPrefix(s, "{") {
		r, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return RangeRatio{}, errors.New(`must be a number or {"input": number, "output": number}`)
		}
		return RangeRatio{r, r}, nil
	}
	var both map[string]*float64
	if err := json.Unmarshal([]byte(s), &both); err != nil {
		return RangeRatio{}, err
	}
	input, output := both["input"], both["output"]
	if input == nil || output == nil || len(both) != 2 {
		return RangeRatio{}, errors.New(`must hold "input" and "output", and nothing else`)
	}
	return RangeRatio{*input, *output}, nil
}

func (r RangeRatio) check() error {
	for _, v := range []float64{r.Input, r.Output} {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("%v is not at least 0 and below 1", v)
		}
	}
	return nil
}

// A span is a range of lengths or ids, both ends included.
type span struct{ low, high int }

// around is the span of lengths around n.
func around(n int, ratio float64) span {
	return span{int(math.Floor(float64(n) * (1 - ratio))), int(math.Ceil(float64(n) * (1 + ratio)))}
}
