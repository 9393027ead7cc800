package reuse

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
)

// WriteStats writes what a dataset of sessions is: their turns, lengths and gaps, the share of the
// prompt tokens that prefix caches of several sizes would have, and how long the sessions take if
// every answer comes at once. With absolute, a turn comes at its time in the recording, if it has
// one. It iterates over src several times, and holds the numbers of all turns.
func WriteStats(w io.Writer, src dataset.Source, absolute bool) error {
	var turns, gaps []int
	var lasts, longest time.Duration
	timed := false
	for c, err := range src {
		if err != nil {
			return err
		}
		turns = append(turns, len(c.Turns))
		for i := range c.Turns {
			if len(c.WaitsOf(i)) > 0 {
				gaps = append(gaps, int(dataset.Seconds(c.Turns[i].Gap).Milliseconds()))
			}
		}
		took := atOnce(c, absolute)
		longest = max(longest, took)
		if c.Due != nil {
			timed, lasts = true, max(lasts, dataset.Seconds(*c.Due)+took)
		}
	}
	var text strings.Builder
	text.WriteString(dataset.Describe("turns of a session", turns) + "\n")
	if len(gaps) > 0 {
		text.WriteString(dataset.Describe("gaps in ms", gaps) + "\n")
	}
	if err := dataset.WriteStats(&text, src); err != nil {
		return err
	}
	text.WriteString("\n")
	use, err := UseOf(src, cacheSizes)
	if err != nil {
		return err
	}
	use.describe(&text)
	fmt.Fprintf(&text, "time if every answer comes at once: %s for the longest session", longest.Round(time.Millisecond))
	if timed {
		fmt.Fprintf(&text, ", %s for all; with the recorded answers %s", lasts.Round(time.Millisecond),
			use.Span.Round(time.Millisecond))
	}
	text.WriteString("\n")
	_, err = io.WriteString(w, text.String())
	return err
}

// cacheSizes are the sizes of prefix caches to show, in tokens.
var cacheSizes = []int{30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000}

// describe writes the shares that caches have. It leaves out sizes that change nothing.
func (u *CacheUse) describe(text *strings.Builder) {
	if u.Reusable < 0 || u.Prompts == 0 {
		text.WriteString("prefix cache: the lengths of the prompts do not say what they share\n")
		return
	}
	share := func(tokens int) float64 { return 100 * float64(tokens) / float64(u.Prompts) }
	fmt.Fprintf(text, "prefix cache: of %d prompt tokens, one without limit has %d (%.1f %%)\n", u.Prompts, u.Reusable,
		share(u.Reusable))
	for i, tokens := range u.BySize {
		fmt.Fprintf(text, "  one of %11d tokens has %.1f %%\n", cacheSizes[i], share(tokens))
		if tokens >= u.Reusable {
			break
		}
	}
}

// atOnce is how long a session takes if every answer comes at once.
func atOnce(c *dataset.Conversation, absolute bool) (longest time.Duration) {
	zero := c.Turns[0].At
	ends := make([]time.Duration, len(c.Turns))
	for i := range c.Turns {
		turn := &c.Turns[i]
		for _, wait := range c.WaitsOf(i) {
			ends[i] = max(ends[i], ends[wait.Turn])
		}
		if absolute && turn.At != nil && zero != nil {
			ends[i] = max(ends[i], dataset.Seconds(*turn.At-*zero))
		} else if i > 0 {
			ends[i] += dataset.Seconds(turn.Gap)
		}
		longest = max(longest, ends[i])
	}
	return longest
}
