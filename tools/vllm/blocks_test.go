//go:build vllm

package vllm_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// number is a value at the end of a line, with the column that it fills.
var number = regexp.MustCompile(` *[-+]?(\d+(\.\d+)?|nan|inf) *$`)

// failure begins the line of one of the first failures.
var failure = regexp.MustCompile(`^Error \d+: `)

// printed are the lines of stdout that both clients print: not vLLM's arguments
// as Python shows them, nor its advice on a package, nor the settings of a trace, nor the
// words of errors, which are tracebacks there, nor our table of LoRA adapters.
func printed(stdout string) (lines []string) {
	failed := false
	stdout, _, _ = strings.Cut(stdout, "\nLoRA adapters\n")
	for line := range strings.Lines(stdout) {
		line = strings.TrimSuffix(line, "\n")
		if failed = failed && !strings.HasPrefix(line, "===="); failed {
			if line = failure.FindString(line); line == "" {
				continue
			}
		}
		if !strings.HasPrefix(line, "Namespace(") && !strings.HasPrefix(line, "tip: ") && !strings.HasPrefix(line, "timed-trace: ") {
			lines = append(lines, line)
		}
		failed = failed || strings.HasPrefix(line, "Failed requests during benchmark run detected")
	}
	return lines
}

// labels are lines without the values that a clock decides.
func labels(lines []string) (masked []string) {
	for _, line := range lines {
		if label, _, ok := strings.Cut(line, ":"); ok && !counted(label) {
			line = number.ReplaceAllString(line, "#")
		}
		masked = append(masked, line)
	}
	return masked
}

// counted says whether a line of the block has a number that no clock decides.
func counted(label string) bool {
	switch strings.TrimSpace(label) {
	case "Successful requests", "Failed requests", "Maximum request concurrency", "Request rate configured (RPS)",
		"Total input tokens", "Total generated tokens":
		return true
	}
	return false
}

// compareBlocks holds what both clients print against each other, line by line:
// labels and counts are equal, milliseconds within the slack, duration and
// throughputs within two percent. The two peaks are of whole seconds of the clock,
// so their values are not compared.
func compareBlocks(t *testing.T, theirs, ours string) {
	t.Helper()
	their, our := printed(theirs), printed(ours)
	if diff := cmp.Diff(labels(their), labels(our)); diff != "" {
		t.Errorf("not the same lines (-vLLM's +ours):\n%s", diff)
		return
	}
	for i, line := range their {
		if label, _, _ := strings.Cut(line, ":"); counted(label) || strings.HasPrefix(label, "Peak ") {
			continue
		}
		a, b := value(line), value(our[i])
		allowed := 0.02 * math.Abs(a)
		if strings.Contains(line, "(ms):") {
			allowed = 1000 * slack.Seconds()
		}
		if math.Abs(a-b) > allowed || math.IsNaN(a) != math.IsNaN(b) {
			t.Errorf("vLLM prints %q, servebench %q", line, our[i])
		}
	}
}

// value is the number at the end of a line, and 0 without one.
func value(line string) float64 {
	v, _ := strconv.ParseFloat(strings.TrimSpace(number.FindString(line)), 64)
	return v
}
