package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

// maxRefusal is how much is read of a reply that is no stream, in bytes.
const maxRefusal = 64 << 10

// refusal says why reply is no stream of chunks, with what its body says; nil if
// it is one. Only status 200 is success, as for vLLM's client.
func refusal(reply *http.Response, body io.Reader) error {
	kind, _, _ := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	if reply.StatusCode != http.StatusOK {
		return refused(reply, body)
	} else if err := wire.Unreadable(reply); err != nil {
		return err
	} else if !isDocument(kind) {
		return nil
	}
	text := readText(body)
	if message := errorMessage([]byte(text)); message != "" {
		return metrics.Failf(metrics.InStream, "%s", message)
	}
	return metrics.Failf(metrics.Malformed, "the answer is %s, not an event stream: %s", kind, metrics.Shorten(plainText(text)))
}

// refused is the failure of a reply whose status is not 200.
func refused(reply *http.Response, body io.Reader) *metrics.Failure {
	f := metrics.Failf(metrics.Status, "%s", statusMessage(reply, body))
	f.Status, f.RetryAfter = reply.StatusCode, retryAfter(reply.Header.Get("Retry-After"))
	return f
}

// isDocument tells the media types that are no event stream from all others:
// servers and proxies that do stream are careless about what they call it.
func isDocument(kind string) bool {
	return kind == "text/html" || kind == "application/json" || kind == "application/x-ndjson" || strings.HasSuffix(kind, "+json")
}

// statusMessage is the status line and what the server says about it, unless that
// is the status line over again.
func statusMessage(reply *http.Response, body io.Reader) string {
	code, reason := strconv.Itoa(reply.StatusCode), http.StatusText(reply.StatusCode)
	text := readText(body)
	said := cmp.Or(errorMessage([]byte(text)), metrics.Shorten(plainText(text)))
	message := strings.TrimSpace(code + " " + reason)
	switch {
	case strings.HasPrefix(said, code+" "):
		message = said
	case reason != "" && strings.HasPrefix(said, reason):
		message = code + " " + said
	case said != "":
		message += ": " + said
	}
	if to := reply.Header.Get("Location"); to != "" {
		message += " (Location: " + metrics.Shorten(to) + "; redirects are not followed)"
	}
	if after := reply.Header.Get("Retry-After"); after != "" {
		message += " (Retry-After: " + metrics.Shorten(after) + ")"
	}
	return message
}

// readText reads what can be had of a short body.
func readText(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, maxRefusal))
	return string(text)
}

// errorMessage finds the message in the JSON of an error, empty when there is
// none. It knows {"error":{"message":…}} (OpenAI, vLLM), {"error":"…"},
// {"object":"error","message":…} (vLLM up to 0.10) and {"detail":…} (FastAPI).
func errorMessage(text []byte) string {
	var reply struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if !json.Valid(text) {
		return ""
	}
	_ = json.Unmarshal(text, &reply) // what is of another type is not a message
	for _, raw := range []json.RawMessage{reply.Error, reply.Detail} {
		if len(raw) > 0 && string(raw) != "null" {
			return metrics.Shorten(saying(raw))
		}
	}
	return metrics.Shorten(reply.Message)
}

// saying is what an error says: one complaint or a list of them.
func saying(raw json.RawMessage) string {
	var list few[json.RawMessage]
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) || json.Unmarshal(raw, &list) != nil {
		return complaint(raw)
	}
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = complaint(part)
	}
	return strings.Join(parts, "; ")
}

// complaint is a plain text, an error object's message, or failing those the
// JSON itself.
func complaint(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string   `json:"message"`
		Msg     string   `json:"msg"` // pydantic's, with what it is about in loc
		Loc     few[any] `json:"loc"`
	}
	_ = json.Unmarshal(raw, &object) // what is of another type is not a message
	if object.Message != "" {
		return object.Message
	}
	if object.Msg == "" {
		return string(raw)
	}
	where := ""
	for i, part := range object.Loc {
		if i > 0 {
			where += "."
		}
		where += fmt.Sprint(part)
	}
	if where != "" {
		where += ": "
	}
	return where + object.Msg
}

var (
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	htmlTag   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// plainText is text, or the title of a page, or what is left of a page without
// its tags, on one line.
func plainText(text string) string {
	if title := htmlTitle.FindStringSubmatch(text); title != nil {
		text = title[1]
	} else if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = htmlTag.ReplaceAllString(text, " ")
	}
	return strings.Join(strings.Fields(text), " ")
}

// maxRetryAfter bounds what retryAfter gives: a day.
const maxRetryAfter = 24 * time.Hour

// retryAfter is how long a server wants a request to wait by its header, in seconds
// or until a date (RFC 9110, section 10.2.3); 0 where it does not say.
func retryAfter(header string) time.Duration {
	if s, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(s, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}
