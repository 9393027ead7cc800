package stream

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// A number that no run comes to is damage: two of them would make a sum that is negative.
func TestSumsThatOverflowAreRefused(t *testing.T) {
	for name, change := range map[string]struct {
		line     int
		old, new string
	}{
		"more than any request has": {1, `"in":`, `"in":9223372036854`},
		"so in a fallback":          {1, `,"in":`, `, "in":9223372036854`},
		"tokens of version 2":       {1, `"in":`, `"in":92233720368547758`},
		"tokens in a fallback":      {1, `,"in":`, `, "in":922337203685477`},
		"a long time":               {1, `"end":`, `"end":92233720368547758`},
		"a sum in the end":          {-2, `\"tokens\":12`, `\"tokens\":9223372036854775801`},
		"more than any integer":     {1, `"in":`, `"in":92233720368547758079`},
	} {
		t.Run(name, func(t *testing.T) {
			lines := recorded(t, 4)
			at, named := change.line, change.line+1
			if at < 0 { // the last message is in two lines
				at, named = at+len(lines), len(lines)
			}
			damaged := bytes.Replace(lines[at], []byte(change.old), []byte(change.new), 1)
			if bytes.Equal(damaged, lines[at]) {
				t.Fatalf("no %s in %s", change.old, lines[at])
			}
			lines[at] = damaged
			sums, err := Read(newFile("r.jsonl", bytes.NewReader(slices.Concat(lines...))), metrics.Ask{})
			if err != nil || len(sums) != 1 {
				t.Fatalf("%d runs, %v", len(sums), err)
			}
			if want := fmt.Sprintf("left out 1 torn or damaged line of the stream: r.jsonl:%d", named); !slices.Contains(sums[0].Ending.Warnings, want) {
				t.Errorf("warnings %q, want %q", sums[0].Ending.Warnings, want)
			}
			if sums[0].Totals.Input < 0 || sums[0].Totals.Input > 100 {
				t.Errorf("%d input tokens", sums[0].Totals.Input)
			}
		})
	}
}

func TestLongerIntegersAreFound(t *testing.T) {
	for line, want := range map[string]bool{
		`{"a":1234,"b":[0,-1234]}`: false, `{"a":12345}`: true, `[-12345]`: true, `{"a":0.12345,"b":1.5e12345}`: false,
		`{"12345":"12345 \" 12345"}`: false, `{"a\"":12345}`: true, `12345`: true, `1.5,12345`: true, ``: false,
	} {
		if hasLonger([]byte(line), 4) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}
