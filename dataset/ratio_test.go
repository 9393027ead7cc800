package dataset

import "testing"

func TestRangeRatioIsOneNumberOrTwo(t *testing.T) {
	for _, row := range []struct {
		text string
		want RangeRatio
	}{
		{"0.0", RangeRatio{}},
		{"0.25", RangeRatio{0.25, 0.25}},
		{` {"input": 0.2, "output": 0.7} `, RangeRatio{0.2, 0.7}},
	} {
		if got, err := ParseRangeRatio(row.text); err != nil || got != row.want {
			t.Errorf("%s: %v (%v), want %v", row.text, got, err, row.want)
		}
	}
}

func TestBadRangeRatioIsRefused(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", `range ratio : must be a number or {"input": number, "output": number}`},
		{"half", `range ratio half: must be a number or {"input": number, "output": number}`},
		{"1", "range ratio 1: 1 is not at least 0 and below 1"},
		{"-0.1", "range ratio -0.1: -0.1 is not at least 0 and below 1"},
		{"nan", "range ratio nan: NaN is not at least 0 and below 1"},
		{`{"input": 0.1, "output": 1.5}`, `range ratio {"input": 0.1, "output": 1.5}: 1.5 is not at least 0 and below 1`},
		{`{"input": 0.1}`, `range ratio {"input": 0.1}: must hold "input" and "output", and nothing else`},
		{`{"input": 0.1, "output": null}`, `range ratio {"input": 0.1, "output": null}: must hold "input" and "output", and nothing else`},
		{`{"input": 0, "output": 0, "x": 0}`, `range ratio {"input": 0, "output": 0, "x": 0}: must hold "input" and "output", and nothing else`},
		{`{"input": 0`, `range ratio {"input": 0: unexpected end of JSON input`},
	} {
		if _, err := ParseRangeRatio(row.text); err == nil || err.Error() != row.want {
			t.Errorf("%q: error %v\nwant %s", row.text, err, row.want)
		}
	}
}
