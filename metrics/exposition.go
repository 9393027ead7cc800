package metrics

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
)

// maxExpositionLine bounds a line of a server's /metrics, in bytes.
const maxExpositionLine = 1 << 20

// A series is one line of Prometheus' text format.
type series struct {
	name   string
	labels string // between the braces, as they stand there
	value  float64
}

// exposition yields the series of a server's /metrics. What is not one, or has no
// finite value, is passed over: whatever a server says there fails no run. The
// last pair may be an error of reading.
func exposition(r io.Reader) iter.Seq2[series, error] {
	return func(yield func(series, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxExpositionLine)
		for lines.Scan() {
			if s, ok := parseSeries(lines.Text()); ok && !yield(s, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(series{}, fmt.Errorf("reading metrics: %w", err))
		}
	}
}

// parseSeries reads `name{labels} value` or `name value`, either with a time
// behind it.
func parseSeries(line string) (s series, ok bool) {
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 || line[0] == '#' {
		return s, false
	}
	s.name = line[:end]
	rest := line[end:]
	if after, labelled := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "{"); labelled {
		if rest, ok = afterLabels(after); !ok {
			return s, false
		}
		s.labels = after[:len(after)-len(rest)-len("}")]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return s, false
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	s.value = v
	return s, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// afterLabels is what follows the brace that closes the labels at the beginning
// of text.
func afterLabels(text string) (rest string, ok bool) {
	for {
		_, _, after, found := cutLabel(text)
		if !found {
			return strings.CutPrefix(strings.TrimLeft(text, ", \t"), "}")
		}
		text = after
	}
}

// cutLabel cuts `name="value"` off the beginning of text, value being as it
// stands there.
func cutLabel(text string) (name, value, rest string, ok bool) {
	name, quoted, ok := strings.Cut(text, `"`)
	if !ok || strings.Contains(name, "}") {
		return "", "", "", false
	}
	for i := 0; i < len(quoted); i++ {
		switch quoted[i] {
		case '\\':
			i++
		case '"':
			return strings.Trim(name, ",= \t"), quoted[:i], quoted[i+1:], true
		}
	}
	return "", "", "", false
}

// label is the value of the label of that name, "" where there is none.
func (s series) label(name string) string {
	for text := s.labels; ; {
		k, v, rest, ok := cutLabel(text)
		if !ok || k == name {
			return v
		}
		text = rest
	}
}

// totals are a server's series by the name of their metric, added up over their
// labels.
type totals map[string]total

type total struct {
	sum    float64
	series int
}

func (t totals) add(s series) {
	old := t[s.name]
	t[s.name] = total{old.sum + s.value, old.series + 1}
}

// first is the sum of the first of several names under which a server may have a
// metric, since servers in transition have both; nil when it has none.
func (t totals) first(names ...string) *float64 {
	for _, name := range names {
		if found, ok := t[name]; ok {
			return &found.sum
		}
	}
	return nil
}

// firstMean is like first, and the mean.
func (t totals) firstMean(names ...string) *float64 {
	for _, name := range names {
		if found, ok := t[name]; ok {
			mean := found.sum / float64(found.series)
			return &mean
		}
	}
	return nil
}
