package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/metrics/compare"
)

// ComparisonMarkdown writes a comparison as Markdown, the verdict first.
func ComparisonMarkdown(w io.Writer, c *compare.Comparison) error {
	var text strings.Builder
	fmt.Fprintf(&text, "## %s\n\n", outcome(c))
	bullets(&text, c.Reasons)
	for i := range c.Points {
		p := &c.Points[i]
		if p.Load != nil {
			fmt.Fprintf(&text, "### %s\n\n", p.Name())
		}
		fmt.Fprintf(&text, "%s; %s\n\n", side("old", p.Old), side("new", p.New))
		if len(p.Rows) > 0 {
			align(&text, compared(p), compareLeft)
			text.WriteString("\n")
		}
		bullets(&text, remarked(p))
	}
	fmt.Fprintf(&text, "%s\n", strings.ReplaceAll(legend(c), "*", `\*`))
	if len(c.Notes) > 0 {
		text.WriteString("\n")
		bullets(&text, c.Notes)
	}
	_, err := io.WriteString(w, strings.TrimRight(text.String(), "\n")+"\n")
	return err
}

func bullets(text *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(text, "- %s\n", line)
	}
	if len(lines) > 0 {
		text.WriteString("\n")
	}
}
