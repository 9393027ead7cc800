package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// A problem is why a request is refused. Its JSON is the inside of vLLM's error
// object.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

// badRequest blames a field of the body; an empty field blames the whole body.
func badRequest(field, format string, args ...any) *problem {
	p := newProblem(http.StatusBadRequest, fmt.Sprintf(format, args...))
	if field != "" {
		p.Param = &field
	}
	return p
}

func newProblem(status int, message string) *problem {
	kind := "InternalServerError"
	switch {
	case status == http.StatusUnauthorized:
		kind = "AuthenticationError"
	case status == http.StatusNotFound:
		kind = "NotFoundError"
	case status == http.StatusTooManyRequests:
		kind = "RateLimitError"
	case status < 500:
		kind = "BadRequestError"
	}
	return &problem{Message: message, Type: kind, Code: status}
}

// wrapped is the error object: {"error":{…}}.
func (p *problem) wrapped() []byte {
	return mustJSON(struct {
		Error *problem `json:"error"`
	}{p})
}

// flat is the error object of vLLM up to v0.10 and of SGLang: {"object":"error",…}.
func (p *problem) flat() []byte {
	return mustJSON(struct {
		Object string `json:"object"`
		*problem
	}{"error", p})
}

func (p *problem) write(w http.ResponseWriter) {
	writeJSON(w, p.Code, p.wrapped())
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// mustJSON encodes a value of a type that encoding/json always accepts.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
