package scrape

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

func FuzzExposition(f *testing.F) {
	f.Add("a{b=\"c\",d=\"e\\\"}\"} 1.5 12\n# HELP a b\nvllm:x 3\n")
	f.Add("a { b = \"c\" , } 1e3\na{} +Inf\n{} 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for s, err := range exposition(strings.NewReader(text)) {
			if err != nil {
				return
			}
			if s.name == "" || math.IsNaN(s.value) || math.IsInf(s.value, 0) {
				t.Fatalf("%q has the series %+v", text, s)
			}
		}
	})
}

func TestReadingMetricsFails(t *testing.T) {
	broken := iotest.ErrReader(fmt.Errorf("torn"))
	if _, err := ParseServer(broken); err == nil || errors.Is(err, ErrNoSample) {
		t.Error("a server's /metrics that cannot be read has a sample")
	}
	if _, err := ParseDCGM(broken); err == nil || errors.Is(err, ErrNoSample) {
		t.Error("an exporter's /metrics that cannot be read has a sample")
	}
	if _, err := ParseCounters(broken); err == nil {
		t.Error("a server's /metrics that cannot be read has counters")
	}
}
