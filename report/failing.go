package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/endings"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/screen"
)

// Causes writes how requests failed, in lines of a width (0 is 100 characters): the number for each
// class or HTTP status, and a line for each class with its commonest message. It writes nothing if
// no request failed or the classes are unknown.
func Causes(w io.Writer, s *metrics.Summary, width int) error {
	if width <= 0 {
		width = truthWidth
	}
	classes := failing(s)
	if len(classes) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d of %s failed:", s.Failed, metrics.Counted(s.Failed+s.Completed, "request"))
	var counts []string
	for _, class := range classes {
		counts = append(counts, counted(s, class))
	}
	screen.Wrap(&b, b.Len(), width, strings.Join(counts, ", "))
	for _, class := range classes {
		if cause := message(failures.Of(s).Classes[class]); cause != "" {
			label := fmt.Sprintf("  %s:", named(class))
			b.WriteString(label)
			screen.Wrap(&b, len(label), width, cause)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// counted is how many requests failed in a class, for HTTP by their statuses: HTTP 404 ×3.
func counted(s *metrics.Summary, class record.Class) string {
	if f := failures.Of(s).Classes[class]; class == record.Status && f != nil && len(f.Statuses) > 0 {
		return "HTTP " + strings.Join(statuses(f), ", HTTP ")
	}
	return fmt.Sprintf("%d %s", failures.Of(s).Requests(class), named(class))
}

// named is a class in a sentence.
func named(class record.Class) string {
	if class == record.Status {
		return "HTTP"
	}
	return string(class)
}

// failing are the classes of s's failed requests.
func failing(s *metrics.Summary) []record.Class {
	of := failures.Of(s)
	return slices.DeleteFunc(slices.Clone(record.Classes), func(c record.Class) bool { return of.Requests(c) == 0 })
}

// cause says how the requests of a class failed: their statuses, and their commonest
// message with its count, unless all had it.
func cause(f *failures.Failing) string {
	if f == nil {
		return ""
	}
	parts, text := statuses(f), message(f)
	if len(parts) == 0 || text == "" {
		return text + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ") + "; " + text
}

// statuses are the HTTP statuses of the requests of a class, with their numbers.
func statuses(f *failures.Failing) (parts []string) {
	for _, status := range metrics.ByCount(f.Statuses) {
		parts = append(parts, fmt.Sprintf("%d ×%d", status, f.Statuses[status]))
	}
	return parts
}

// message is the commonest message of a class, with its count unless all requests had it.
func message(f *failures.Failing) string {
	if f == nil {
		return ""
	}
	text, n := f.Messages.Commonest()
	if text = excerpt(text); text != "" && n < f.Requests {
		text = fmt.Sprintf("most often (%d ×) %s", n, text)
	}
	return text
}

// The widths of a message, and of a word in it, in characters.
const (
	mostMessage = 240
	mostWord    = vllm.Width - 2
)

// excerpt shortens a message to one line of words that can be wrapped.
func excerpt(message string) string {
	var words []string
	n := 0
	for _, word := range strings.FieldsFunc(message,
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		word = screen.Cut(word, mostWord)
		if n += screen.Width(word) + 1; n > mostMessage {
			return strings.Join(append(words, "…"), " ")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// failureRows has a row for each class, and below it how its requests failed, in lines of
// the block's width.
func failureRows(s *metrics.Summary) (rows []vllm.Row) {
	for _, class := range failing(s) {
		rows = append(rows, vllm.Row{Label: string(class) + ":", Value: vllm.Count(failures.Of(s).Requests(class))})
		if text := cause(failures.Of(s).Classes[class]); text != "" {
			b := bytes.NewBufferString(" ")
			screen.Wrap(b, b.Len(), vllm.Width, text)
			rows = append(rows, vllm.Row{Label: strings.TrimSuffix(b.String(), "\n")})
		}
	}
	return rows
}

// finishReasons has a row for each finish reason, the commonest first.
func finishReasons(s *metrics.Summary) (rows []vllm.Row) {
	for _, reason := range metrics.ByCount(endings.Of(s).Reasons) {
		rows = append(rows, vllm.Row{Label: screen.Clean(reason) + ":", Value: vllm.Count(endings.Of(s).Reasons[reason])})
	}
	return rows
}

// transport says which code spoke HTTP.
func transport(s *metrics.Summary) []vllm.Row {
	if s.Evidence == nil || s.Evidence.Connections.Transport == "" {
		return nil
	}
	return []vllm.Row{{Label: "Transport:", Value: s.Evidence.Connections.Transport}}
}
