package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteStats writes the lengths, in tokens, of the prompts of src, and of the answers that they ask
// for: count, mean, percentiles and a histogram. It pulls all of src.
func WriteStats(w io.Writer, src Source) error {
	var prompts, outputs []int
	for c, err := range src {
		if err != nil {
			return err
		}
		for _, turn := range c.Turns {
			prompts = append(prompts, turn.PromptLen)
			outputs = append(outputs, turn.OutputLen)
		}
	}
	text := Describe("prompt tokens", prompts) + "\n" + Describe("output tokens", outputs)
	_, err := io.WriteString(w, text)
	return err
}

// Describe is a paragraph about numbers, which it sorts: count, mean, percentiles and a histogram.
func Describe(title string, lengths []int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: count %d", title, len(lengths))
	if len(lengths) == 0 {
		return text.String() + "\n"
	}
	slices.Sort(lengths)
	total := 0
	for _, n := range lengths {
		total += n
	}
	fmt.Fprintf(&text, ", min %d, mean %.1f, median %s, p90 %s, p99 %s, max %d, total %d\n",
		lengths[0], float64(total)/float64(len(lengths)),
		percentile(lengths, 50), percentile(lengths, 90), percentile(lengths, 99), lengths[len(lengths)-1], total)
	histogram(&text, lengths)
	return text.String()
}

// percentile is a percentile of sorted values, interpolated as numpy does. It has one decimal if it
// is not whole.
func percentile(sorted []int, p int) string {
	rank := (len(sorted) - 1) * p
	at := rank / 100
	value := float64(sorted[at])
	if rest := rank % 100; rest > 0 {
		value += float64(sorted[at+1]-sorted[at]) * float64(rest) / 100
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0")
}

const (
	statsBuckets = 12 // at most
	statsBar     = 40 // characters of the longest bar
)

// histogram writes a line for each of the equal ranges that sorted values fall in.
func histogram(w io.Writer, sorted []int) {
	low, high := sorted[0], sorted[len(sorted)-1]
	width := (high-low)/statsBuckets + 1
	counts := make([]int, (high-low)/width+1)
	for _, n := range sorted {
		counts[(n-low)/width]++
	}
	most := slices.Max(counts)
	digits := len(fmt.Sprint(low + len(counts)*width - 1))
	for i, n := range counts {
		bar := strings.Repeat("#", (n*statsBar+most-1)/most)
		from := low + i*width
		line := fmt.Sprintf("  %*d – %*d %*d  %s", digits, from, digits, from+width-1, len(fmt.Sprint(most)), n, bar)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
