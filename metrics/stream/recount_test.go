package stream

import (
	"bytes"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// recount sums up a stream by other definitions than its own.
func recount(t *testing.T, stream []byte, d record.Definitions) *metrics.Summary {
	t.Helper()
	sums, err := Read(bytes.NewReader(stream), metrics.Ask{Definitions: d})
	if err != nil || len(sums) != 1 {
		t.Fatal(len(sums), err)
	}
	return sums[0]
}

// inMS are mean TTFT, mean E2EL and the number of gaps of a run.
func inMS(s *metrics.Summary) []int64 {
	return []int64{int64(s.TTFT.Mean() + .5), int64(s.E2EL.Mean() + .5), int64(s.ITL.Len())}
}

func TestAStreamIsCountedByAnyDefinitions(t *testing.T) {
	for _, noChunks := range []bool{false, true} {
		for _, recorded := range definitionTests {
			h := testHeader("r")
			h.Definitions, h.Config.Traits.Chat = recorded.Definitions, true
			var stream bytes.Buffer
			sw := NewWriter(&stream)
			sw.NoChunks = noChunks
			writeRun(t, sw, h, chatRecord())
			for _, test := range definitionTests {
				s := recount(t, stream.Bytes(), test.Definitions)
				as := test
				if test.Definitions == "" {
					as = recorded
				}
				want := []int64{as.want[0], as.want[1], int64(len(as.want) - 2)}
				if got := inMS(s); !slices.Equal(got[:2], want[:2]) || got[2] != want[2] && !noChunks || s.Totals.Output != as.out {
					t.Errorf("without chunks %t, recorded by %s, counted by %q: %v, %d tokens; want %v, %d",
						noChunks, recorded.Definitions, test.Definitions, got, s.Totals.Output, want, as.out)
				}
				if s.Header.InForce() != as.Named() {
					t.Errorf("it says %s for %s", s.Header.InForce(), as.Named())
				}
			}
		}
	}
}
