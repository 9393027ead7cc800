package faults

import (
	"slices"
	"testing"
)

func TestParseRefusesNonsense(t *testing.T) {
	for _, text := range []string{"nonsense", "stall=x", "stall=-1", "crlf=2", "status=200", "status=600", "tokens=1", "stall,,crlf", "Stall"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q read as %v", text, got)
		}
	}
	got, err := Parse("stall=3, crlf,status")
	if want := []Fault{{"stall", 3}, {"crlf", 0}, {"status", 500}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
