package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
)

// Causes writes how requests failed, for a terminal of 100 columns: how many of
// each class, and a line for each with the statuses and the commonest message. It
// writes nothing when none failed, or when classes are not known.
func Causes(w io.Writer, s *metrics.Summary) error {
	classes := failing(s)
	if len(classes) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d of %s failed:", s.Failed, metrics.Counted(s.Failed+s.Completed, "request"))
	var counts []string
	for _, class := range classes {
		counts = append(counts, fmt.Sprintf("%d %s", s.Classes[class], class))
	}
	wrap(&b, b.Len(), strings.Join(counts, ", "))
	for _, class := range classes {
		if cause := cause(s.Failing[class]); cause != "" {
			label := fmt.Sprintf("  %s:", class)
			b.WriteString(label)
			wrap(&b, len(label), cause)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// failing are the classes of s's failed requests.
func failing(s *metrics.Summary) []metrics.Class {
	return slices.DeleteFunc(slices.Clone(metrics.Classes), func(c metrics.Class) bool { return s.Classes[c] == 0 })
}

// cause says how the requests of a class failed: their statuses, and the commonest
// message with how many had it, unless all did.
func cause(f *metrics.Failing) string {
	if f == nil {
		return ""
	}
	var parts []string
	for _, status := range metrics.ByCount(f.Statuses) {
		parts = append(parts, fmt.Sprintf("%d ×%d", status, f.Statuses[status]))
	}
	text, n := f.Commonest()
	if text = excerpt(text); text != "" && n < f.Requests {
		text = fmt.Sprintf("most often (%d ×) %s", n, text)
	}
	if len(parts) == 0 || text == "" {
		return text + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ") + "; " + text
}

// The measures of a message, and of a word in it, in characters.
const (
	mostMessage = 240
	mostWord    = vllm.Width - 2
)

// excerpt is as much of a message as a reader wants, on one line and of words that
// can be wrapped.
func excerpt(message string) string {
	var words []string
	n := 0
	for _, word := range strings.FieldsFunc(message, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		if utf8.RuneCountInString(word) > mostWord {
			word = string([]rune(word)[:mostWord-1]) + "…"
		}
		if n += utf8.RuneCountInString(word) + 1; n > mostMessage {
			return strings.Join(append(words, "…"), " ")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// failures has a row for each class, and under it, in lines of the block's width,
// how its requests failed.
func failures(s *metrics.Summary) (rows []vllm.Row) {
	for _, class := range failing(s) {
		rows = append(rows, vllm.Row{Label: string(class) + ":", Value: vllm.Count(s.Classes[class])})
		line := " "
		for word := range strings.FieldsSeq(cause(s.Failing[class])) {
			if utf8.RuneCountInString(line+" "+word) > vllm.Width {
				rows = append(rows, vllm.Row{Label: line})
				line = " "
			}
			line += " " + word
		}
		if line != " " {
			rows = append(rows, vllm.Row{Label: line})
		}
	}
	return rows
}

// finishReasons are those that servers gave, the commonest first.
func finishReasons(s *metrics.Summary) (rows []vllm.Row) {
	for _, reason := range metrics.ByCount(s.Truth.FinishReasons) {
		rows = append(rows, vllm.Row{Label: reason + ":", Value: vllm.Count(s.Truth.FinishReasons[reason])})
	}
	return rows
}
