package loadgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/servebench/servebench/metrics"
)

const (
	maxRefusal = 64 << 10 // bytes read of a reply that is no stream
	maxMessage = 500      // bytes kept of what it says
)

// refusal says why reply is no stream of chunks, with what its body says; nil if
// it is one. Only status 200 is success, as for vLLM's client.
func refusal(reply *http.Response, body io.Reader) error {
	kind, _, _ := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	encoding := reply.Header.Get("Content-Encoding")
	switch {
	case reply.StatusCode != http.StatusOK:
		return failure(metrics.Status, "%s", statusMessage(reply, body))
	case encoding != "" && encoding != "identity":
		return failure(metrics.Malformed, "the answer is compressed (%s) though nobody asked for it", encoding)
	case kind == "text/event-stream" || kind == "":
		return nil
	}
	text := readText(body)
	if message := errorMessage([]byte(text)); message != "" {
		return failure(metrics.InStream, "%s", message)
	}
	return failure(metrics.Malformed, "the answer is %s, not an event stream: %s", kind, shorten(plainText(text)))
}

// statusMessage is the status line and what the server says about it.
func statusMessage(reply *http.Response, body io.Reader) string {
	message := strings.TrimSpace(fmt.Sprint(reply.StatusCode, " ", http.StatusText(reply.StatusCode)))
	text := readText(body)
	if said := errorMessage([]byte(text)); said != "" {
		message += ": " + said
	} else if said := shorten(plainText(text)); said != "" {
		message += ": " + said
	}
	if to := reply.Header.Get("Location"); to != "" {
		message += " (Location: " + to + "; redirects are not followed)"
	}
	if after := reply.Header.Get("Retry-After"); after != "" {
		message += " (Retry-After: " + after + ")"
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
			return shorten(saying(raw))
		}
	}
	return shorten(reply.Message)
}

// saying is what an error object, a list of complaints or a plain text says.
func saying(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
		Msg     string `json:"msg"` // pydantic's
		Loc     []any  `json:"loc"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message+object.Msg != "" {
		if len(object.Loc) > 0 {
			return strings.ReplaceAll(strings.Trim(fmt.Sprint(object.Loc), "[]"), " ", ".") + ": " + object.Msg
		}
		return object.Message + object.Msg
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		parts := make([]string, len(list))
		for i, part := range list {
			parts[i] = saying(part)
		}
		return strings.Join(parts, "; ")
	}
	return string(raw)
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

// shorten keeps the start of a long message.
func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

var doneMark = []byte("[DONE]")

func isDone(data []byte) bool { return bytes.Equal(bytes.TrimSpace(data), doneMark) }
