package failures

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

const (
	// Requests that fail would seldom have been quick, and the others had a server with less work.
	failedLimit = 5.0 // % of the requests that were not cut short
	// Cutting a run short cuts long requests. If more were in flight than done, only the quick ones
	// are left.
	cutLimit = 50.0 // % of the requests that did not fail
)

// Check finds requests that failed and were not cut by us.
func Check(s *metrics.Summary) (verdict.Check, bool) {
	n := Uncut(s)
	of := s.Completed + n
	c := verdict.Check{Name: "failed", Figure: verdict.Percent(n, of), Unit: "%", Limit: failedLimit,
		Remedy: "read the errors"}
	c.Text = fmt.Sprintf("%d of %s failed: the latencies leave these out", n, metrics.Counted(of, "request"))
	return c, n > 0 && s.Completed > 0
}

// CheckCut finds requests that we cut short.
func CheckCut(s *metrics.Summary) (verdict.Check, bool) {
	n := s.Failed - Uncut(s)
	of := s.Completed + n
	c := verdict.Check{Name: "cut short", Figure: verdict.Percent(n, of), Unit: "%", Limit: cutLimit,
		Remedy: "let it run longer"}
	c.Text = fmt.Sprintf("%d of %s were cut short: the latencies are of the quicker requests", n,
		metrics.Counted(of, "request"))
	return c, n > 0 && s.Completed > 0
}
