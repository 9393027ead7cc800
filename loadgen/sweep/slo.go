package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/verdict"
)

// An SLO is the most that a latency may be.
type SLO struct {
	Metric string  // ttft, ttfo, tpot, itl, e2el
	Of     string  // mean, median, or a percentile such as p99
	Most   float64 // in milliseconds
}

// name is the limit as in the file, such as p99-ttft.
func (l SLO) name() string { return l.Of + "-" + l.Metric }

// percentile is the limit's percentile. A mean has none.
func (l SLO) percentile() (p float64, ok bool) {
	if l.Of == "median" {
		return 50, true
	}
	digits, found := strings.CutPrefix(l.Of, "p")
	p, err := strconv.ParseFloat(digits, 64)
	return p, found && err == nil
}

// judge reports whether a run passes as a probe on every target, and if not, why. Numbers within
// their limits are not enough: no request may have failed, the run must be VALID and long enough to
// show whether the server keeps up with the rate, and each latency must have samples, enough of
// them for a percentile. TTFT and TPOT are what metrics.Summary.Decisive returns, so vLLM's may be
// wrong in a run that passes.
func (s *Search) judge(sums ...*metrics.Summary) (v vote, why string) {
	var whys []string
	v = passed
	for _, sum := range sums {
		brokenBy, doubtful := s.broken(sum)
		broken := strings.Join(brokenBy, "; ")
		switch {
		case broken == "":
		case !doubtful:
			v = failed
		case v == passed:
			v = doubted
		}
		switch {
		case broken == "":
			continue
		case sum.Header.Target != "":
			broken = sum.Header.TargetName() + ": " + broken
		}
		whys = append(whys, broken)
	}
	return v, strings.Join(whys, "; ")
}

// broken is why a run on one target does not pass. It is doubtful if that says nothing
// about the server: no request failed, but the run is SUSPECT, or too short.
func (s *Search) broken(sum *metrics.Summary) (whys []string, doubtful bool) {
	if sum.Failed > 0 {
		whys = append(whys, fmt.Sprintf("%d of %d requests failed", sum.Failed, sum.Failed+sum.Completed))
	}
	enough := false
	for _, l := range s.Limits {
		if why, tooFew := l.broken(sum); why != "" {
			whys = append(whys, why)
			enough = enough || !tooFew
		}
	}
	doubt := s.doubt(sum)
	suspect := doubt != "" && sum.Trust.Verdict == verdict.Suspect
	switch {
	case suspect && sum.Failed == 0 && whys != nil:
		whys[len(whys)-1] += ", but the run is " + doubt
	case doubt != "":
		whys = append(whys, doubt)
	}
	if whys == nil && unproven(sum) {
		whys = []string{"it was too short to tell whether the server keeps up: take more requests"}
	}
	return whys, sum.Failed == 0 && (suspect || doubt == "" && !enough)
}

// doubt is the verdict and the reasons of a run that is not VALID, "" if it is. An empty chunk that vLLM's TTFT
// takes for a token spoils ITL. It does not spoil TTFT and TPOT, which are measured from the
// content.
func (s *Search) doubt(sum *metrics.Summary) string {
	t := sum.Trust
	if t == nil || t.Verdict == verdict.Valid {
		return ""
	}
	gaps := slices.ContainsFunc(s.Limits, func(l SLO) bool { return l.Metric == "itl" })
	failed := slices.DeleteFunc(t.Failed(), func(c verdict.Check) bool {
		return c.Name == verdict.FirstToken && !gaps && sum.FromContent("ttft") != nil
	})
	if len(failed) == 0 {
		return ""
	}
	var reasons []string
	for _, c := range failed {
		reasons = append(reasons, c.Text)
	}
	return fmt.Sprintf("%s: %s", t.Verdict, strings.Join(reasons, "; "))
}

// unproven reports that requests came at a finite rate, and it is unknown whether the server kept
// up with it.
func unproven(sum *metrics.Summary) bool {
	rate := sum.Header.Config.RequestRate
	return sum.Truth != nil && rate > 0 && !math.IsInf(rate, 1) && !backlog.Of(sum).Judged
}

// broken is how a run breaks the limit, "" if it does not. tooFew means that it is within the
// limit, but by an unknown margin.
func (l SLO) broken(sum *metrics.Summary) (why string, tooFew bool) {
	d, words := sum.Decisive(l.Metric)
	name := strings.TrimSpace(l.Of + " " + metrics.Label(l.Metric) + " " + words)
	got := l.value(d)
	p, isPercentile := l.percentile()
	switch size := (stats.TailSize{Percentile: p, N: d.Len()}); {
	case size.N == 0:
		return name + " is not known: no request has one", false
	case d.Mean() == 0: // an answer in one piece takes no time per token
		return name + " is not known: answers came in one piece", false
	case !(got <= l.Most):
		return fmt.Sprintf("%s is %.2f ms, above %g ms", name, got, l.Most), false
	case isPercentile && size.Few():
		return fmt.Sprintf("%s has %d samples and needs %d", name, size.N, stats.ValuesNeeded(p)), true
	}
	return "", false
}

func (l SLO) value(d *metrics.Distribution) float64 {
	if l.Of == "mean" {
		return d.Mean()
	}
	p, ok := l.percentile()
	switch {
	case !ok:
		return math.NaN()
	case l.Of == "median":
		return d.Median()
	}
	return d.Percentile(p)
}

// Limits are the limits of a search. In the file each is a statistic with milliseconds, as `p99-ttft: 200`.
type Limits []SLO

// UnmarshalYAML reads limits in the order of the file.
func (s *Limits) UnmarshalYAML(node *yaml.Node) error {
	return entries(node, "slo", func(key, value *yaml.Node) error {
		l := SLO{}
		l.Of, l.Metric, _ = strings.Cut(key.Value, "-")
		if !slices.Contains([]string{"ttft", "ttfo", "tpot", "itl", "e2el"}, l.Metric) || !l.isStatistic() {
			return at(key, "%s: a limit must be a statistic and a latency, such as p99-ttft, mean-tpot, median-itl or "+
				"p99.9-e2el", key.Value)
		}
		if value.Decode(&l.Most) != nil || !(l.Most >= 0) || math.IsInf(l.Most, 1) {
			return at(value, "%s must be a number of milliseconds", key.Value)
		}
		if p, ok := l.percentile(); ok && (p <= 0 || p >= 100) {
			return at(key, "%s: no value lies beyond it, however many there are: take a percentile above 0 and below 100",
				key.Value)
		}
		*s = append(*s, l)
		return nil
	})
}

// isStatistic says whether l limits a mean, a median or a percentile.
func (l SLO) isStatistic() bool {
	p, ok := l.percentile()
	return l.Of == "mean" || ok && p >= 0 && p <= 100
}
