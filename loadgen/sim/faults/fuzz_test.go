package faults

import "testing"

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "none", "stall=3,crlf", "status", "status=429 , html", "tokens=-1", "cut=99999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if plan := (Plan{List: list}); err == nil && plan.Check() != nil {
			t.Errorf("%q read as %v, which is not valid", text, list)
		}
	})
}
