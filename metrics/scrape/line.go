package scrape

import (
	"bytes"
	"slices"
	"strings"
)

// plain is the name of a series without what exporters and routers change in it: OpenTelemetry's
// exporter and SGLang's router write _ for the colon of vllm: and sglang:, others a dot, and Ray puts
// ray_ before it.
func plain(name string) string {
	return strings.TrimPrefix(strings.NewReplacer(":", "_", ".", "_").Replace(name), "ray_")
}

// longestHeard is more than the length of each prefix in heard, and of ray_ before it.
const longestHeard = 64

// isHeard reports whether a line is about a series to look at. A name that is not a plain word is in
// the braces, in quotes.
func isHeard(line []byte) bool {
	if braced, ok := bytes.CutPrefix(line, []byte("{")); ok {
		line = bytes.TrimPrefix(bytes.TrimSpace(braced), []byte(`"`))
	}
	name := plain(string(line[:min(len(line), longestHeard)]))
	return slices.ContainsFunc(heard, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// untimed is a line without what follows its value: a time, which OpenMetrics counts in seconds and
// Prometheus in whole milliseconds, and an exemplar. A line that has no value is left as it is.
func untimed(line []byte) []byte {
	from := bytes.IndexAny(line, "{ \t")
	if from < 0 {
		return line
	}
	if labels := bytes.TrimLeft(line[from:], " \t"); labels[0] == '{' {
		if from = labelsEnd(line); from < 0 {
			return line
		}
	}
	value := bytes.TrimLeft(line[from:], " \t")
	if end := bytes.IndexAny(value, " \t"); end >= 0 {
		value = value[:end]
	}
	return slices.Concat(line[:from], []byte(" "), value)
}

// labelsEnd is where the braces of a line end; -1 if they do not.
func labelsEnd(line []byte) int {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch {
		case quoted && line[i] == '\\':
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == '}' && !quoted:
			return i + 1
		}
	}
	return -1
}
