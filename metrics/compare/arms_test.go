package compare

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestArmsAreKnownByLabelTargetAndMetadata(t *testing.T) {
	for _, test := range []struct {
		header metrics.Header
		want   []string
	}{
		{metrics.Header{}, nil},
		{metrics.Header{Target: "a"}, []string{"a"}},
		{metrics.Header{Target: "a", Solo: true}, []string{"a alone"}},
		{metrics.Header{Config: metrics.Config{Label: "l", Metadata: []metrics.KV{{Key: "repeat", Value: "1"}, {Key: "arm", Value: "with"}}}}, []string{"l", "with"}},
	} {
		if got := armNames(&metrics.Summary{Header: &test.header}); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
