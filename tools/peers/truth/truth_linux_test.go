package truth

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLagIsBehindTheEarliest(t *testing.T) {
	const start = 1795392722123706993
	got := lags([]int64{start + 5, start + 102, start + 209, start + 300}, 100)
	if want := []time.Duration{5, 2, 9, 0}; !slices.Equal(got, want) {
		t.Errorf("lags %v, want %v", got, want)
	}
	if lags(nil, 1) != nil {
		t.Error("lags of nothing")
	}
}

func TestTruthIsPrinted(t *testing.T) {
	n := notes{
		arrivals: []int64{3e9, 2e9, 1e9},
		ttfts:    []time.Duration{1e6, 3e6, 2e6},
		itls:     []time.Duration{4e6},
		last:     5e9,
	}
	var out strings.Builder
	if err := n.print(&out, time.Second); err != nil {
		t.Fatal(err)
	}
	var got Truth
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	// P99 as numpy interpolates it: 2 + 0.98 × (3 − 2).
	want := Truth{Requests: 3, Chunks: 4, FirstNS: 1e9, Seconds: 4, TTFT: Spread{2, 2, 2.98}, ITL: Spread{4, 4, 4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
