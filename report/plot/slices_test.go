package plot

import (
	"testing"

	"github.com/servebench/servebench/metrics/slicing"
)

func TestQuantitiesAreNumbersOfSlices(t *testing.T) {
	for _, h := range histories {
		for _, q := range h.quantities {
			if _, known := slicing.Find(q.key); !known {
				t.Errorf("%s: %s is no number of a slice", h.name, q.key)
			}
		}
	}
}
