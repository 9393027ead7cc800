package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/metrics/compare"
)

// workflowData escapes a message as GitHub's workflow commands want it.
var workflowData = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

// ComparisonGitHub writes a comparison as annotations of a GitHub workflow: an error
// for each reason of a regression, a warning for each reason against a verdict, a
// notice for the rest.
func ComparisonGitHub(w io.Writer, c *compare.Comparison) error {
	var text strings.Builder
	annotate := func(level, title, message string) {
		fmt.Fprintf(&text, "::%s title=servebench %s::%s\n", level, title, workflowData.Replace(message))
	}
	switch c.Verdict {
	case compare.Pass:
		annotate("notice", string(c.Verdict), outcome(c))
	case compare.Regressed:
		for _, reason := range c.Reasons {
			annotate("error", string(c.Verdict), reason)
		}
	default:
		for _, reason := range c.Reasons {
			annotate("warning", string(c.Verdict), reason)
		}
	}
	for _, note := range c.Notes {
		annotate("notice", "compare", note)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
