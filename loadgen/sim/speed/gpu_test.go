package speed

import (
	"slices"
	"testing"
)

func TestSMsOfServersAreRead(t *testing.T) {
	if got, err := ParseSMs("100,25"); err != nil || !slices.Equal(got, []float64{1, .25}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "0", "101", "50,", "half", "-1"} {
		if _, err := ParseSMs(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
