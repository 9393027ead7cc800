// Package refusal reads what servers say when they do not answer.
//
// It knows the forms of errors that servers, gateways and proxies have, whatever their API is.
package refusal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/metrics/record"
)

// maxRefusal is how many bytes are read of a reply that is not a stream.
const maxRefusal = 64 << 10

// Document says why reply, of status 200, is not a stream of chunks, with the message in its body; nil
// if it is a stream. stream is the media type of streams, empty for an event stream.
func Document(reply *http.Response, body io.Reader, stream string) error {
	kind, _, _ := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	if kind == stream || !isDocument(kind) {
		return nil
	}
	text := readText(body)
	if said := Said([]byte(text)); said != nil {
		return Failed(record.InStream, said.Message, said)
	}
	wanted := "an event stream"
	if stream != "" {
		wanted = "a stream of " + stream
	}
	return record.Failf(record.Malformed, "the answer is %s, not %s: %s", kind, wanted,
		record.Shorten(plainText(text)))
}

// Of is the failure of a reply whose status is not 200.
func Of(reply *http.Response, body io.Reader) *record.Failure {
	text := readText(body)
	said := Said([]byte(text))
	message := record.Shorten(plainText(text))
	if said != nil {
		said.HTTPStatus, said.HTTPStatusCode = reply.Status, reply.StatusCode
		message = said.Message
	}
	class := record.Status
	if overflows(reply.StatusCode, message, said) {
		class = record.Overflow
	}
	f := Failed(class, statusMessage(reply, message), said)
	f.Status, f.RetryAfter = reply.StatusCode, retryAfter(reply.Header)
	return f
}

// tooLong are words, in lower case, with which servers say that a prompt, with or without the tokens
// asked for, is longer than the context of their model.
var tooLong = []string{
	"maximum context length",  // OpenAI, vLLM, and many after them
	"context_length_exceeded", // OpenAI's code
	"context window",          // OpenAI's responses, and gateways
	"maximum model length",    // vLLM's engine
	"max_model_len",           // likewise
	"model's context length",  // SGLang
	"maximum allowed length",  // SGLang's scheduler
	"context size",            // llama.cpp
	"exceed_context_size",     // its type
	"the context length",      // Ollama
	"prompt is too long",      // Anthropic
	"input is too long",       // Amazon's Bedrock
	"max_new_tokens` must be", // Hugging Face's text-generation-inference
	"`inputs` must have less", // likewise
	"max_seq_len",             // TensorRT-LLM
	"input token count",       // Google's Gemini
}

// overflows reports whether a server refused a prompt because it is longer than the model's context.
func overflows(status int, message string, said *openai.APIError) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return false
	}
	if said != nil {
		message = fmt.Sprint(message, " ", said.Type, " ", said.Code)
	}
	message = strings.ToLower(message)
	return slices.ContainsFunc(tooLong, func(words string) bool { return strings.Contains(message, words) })
}

// isDocument reports whether a media type is not an event stream. It names the types that are not,
// since servers and proxies that do stream are careless about the type.
func isDocument(kind string) bool {
	return kind == "text/html" || kind == "application/json" || kind == "application/x-ndjson" ||
		strings.HasSuffix(kind, "+json")
}

// statusMessage is the status line and the server's message, unless the message repeats the status
// line.
func statusMessage(reply *http.Response, said string) string {
	code, reason := strconv.Itoa(reply.StatusCode), http.StatusText(reply.StatusCode)
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
		message += " (Location: " + record.Shorten(to) + "; redirects are not followed)"
	}
	for _, name := range []string{"Retry-After", "retry-after-ms"} {
		if after := reply.Header.Get(name); after != "" {
			message += " (" + name + ": " + record.Shorten(after) + ")"
		}
	}
	return message
}

// readText reads a short body, as far as possible.
func readText(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, maxRefusal))
	return string(text)
}

// A serverError is our error about an error that the server sent. errors.As finds the server's.
type serverError struct {
	error
	said *openai.APIError
}

// Unwrap returns what the server sent.
func (e *serverError) Unwrap() error { return e.said }

// Failed is a failure with our message about the server's error, which may be nil.
func Failed(class record.Class, message string, said *openai.APIError) *record.Failure {
	f := record.Failf(class, "%s", message)
	if said != nil {
		f.Err = &serverError{f.Err, said}
	}
	return f
}

// Said finds the error in a server's JSON; nil if there is no error or it has no message. It
// knows {"error":{"message":…}} (OpenAI, vLLM), {"error":"…"}, {"object":"error","message":…} (vLLM
// up to 0.10) and {"detail":…} (FastAPI). The message is short and safe to print.
func Said(text []byte) *openai.APIError {
	var reply struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if !json.Valid(text) {
		return nil
	}
	_ = json.Unmarshal(text, &reply) // a value of the wrong type is not a message
	raw, message := text, reply.Message
	for _, named := range []json.RawMessage{reply.Error, reply.Detail} {
		if !scan.IsNull(named) {
			raw, message = named, saying(named)
			break
		}
	}
	if message == "" {
		return nil
	}
	said := new(openai.APIError)
	if len(raw) <= maxRefusal {
		_ = said.UnmarshalJSON(raw) // for the type and the code, if they are valid
	}
	said.Message = record.Shorten(message)
	return said
}

// saying is the text of an error: one complaint or a list of them.
func saying(raw json.RawMessage) string {
	var list scan.Few[json.RawMessage]
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) || json.Unmarshal(raw, &list) != nil {
		return complaint(raw)
	}
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = complaint(part)
	}
	return strings.Join(parts, "; ")
}

// complaint is a plain text, or an error object's message, or else the JSON itself.
func complaint(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string        `json:"message"`
		Msg     string        `json:"msg"` // from pydantic; loc says what it is about
		Loc     scan.Few[any] `json:"loc"`
	}
	_ = json.Unmarshal(raw, &object) // a value of the wrong type is not a message
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

// plainText is text on one line; for a page it is the title, or the page without its tags.
func plainText(text string) string {
	if title := htmlTitle.FindStringSubmatch(text); title != nil {
		text = title[1]
	} else if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = htmlTag.ReplaceAllString(text, " ")
	}
	return strings.Join(strings.Fields(text), " ")
}

// Complaint is the failure for the error in the JSON of an answer with status 200; nil if it has none.
func Complaint(text []byte) error {
	said := Said(text)
	if said == nil {
		return nil
	}
	return Failed(record.InStream, said.Message, said)
}
