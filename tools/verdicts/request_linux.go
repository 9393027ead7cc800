package main

import (
	"bytes"
	"strconv"
	"strings"
)

// A request is what the server has to know of a request.
type request struct {
	path   string
	id     string // its x-request-id
	form   form
	tokens int // to answer; 0 for a request that is not a load's
	prompt int // tokens
}

// defaultTokens answer a request that names no number.
const defaultTokens = 16

// parse reads the request at the start of in. It gives 0 for its size if it is not whole yet.
func parse(in []byte) (r request, size int) {
	head, _, whole := bytes.Cut(in, []byte("\r\n\r\n"))
	if !whole {
		return r, 0
	}
	lines := strings.Split(string(head), "\r\n")
	length := 0
	for _, line := range lines[1:] {
		switch name, value, _ := strings.Cut(line, ":"); strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		case "x-request-id":
			r.id = strings.TrimSpace(value)
		}
	}
	size = len(head) + 4 + length
	if len(in) < size {
		return r, 0
	}
	method, rest, _ := strings.Cut(lines[0], " ")
	r.path, _, _ = strings.Cut(rest, " ")
	if method == "POST" {
		r.load(in[size-length : size])
	}
	return r, size
}

// load takes what counts of the body of a completion.
func (r *request) load(body []byte) {
	switch {
	case strings.HasPrefix(r.path, "/v1/chat/completions"):
		r.form = chat
	case strings.HasPrefix(r.path, "/v1/completions"):
		r.form = completion
	default:
		return
	}
	r.tokens, r.prompt = defaultTokens, promptTokens(body)
	for _, key := range []string{`"max_tokens":`, `"max_completion_tokens":`} {
		if n := decimal(body, key); n > 0 {
			r.tokens = n
		}
	}
}

// decimal is the number behind a key, or 0. Only the ends of a long body can have it: the rest is a
// prompt, and reading that takes time.
func decimal(body []byte, key string) int {
	const end = 2048
	parts := [][]byte{body}
	if len(body) > 2*end {
		parts = [][]byte{body[:end], body[len(body)-end:]}
	}
	for _, part := range parts {
		if _, value, ok := bytes.Cut(part, []byte(key)); ok {
			value = bytes.TrimLeft(value, " ")
			digits := bytes.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' })
			n, _ := strconv.Atoi(string(value[:max(digits, 0)]))
			return n
		}
	}
	return 0
}

// promptTokens counts the ids of a prompt, or the words of a text or of a conversation's messages.
func promptTokens(body []byte) (n int) {
	if _, prompt, ok := bytes.Cut(body, []byte(`"prompt":`)); ok {
		prompt = bytes.TrimLeft(prompt, " ")
		if ids, ok := bytes.CutPrefix(prompt, []byte("[")); ok {
			ids, _, _ = bytes.Cut(ids, []byte("]"))
			return bytes.Count(ids, []byte(",")) + 1
		}
		return words(prompt)
	}
	for rest := body; ; {
		_, content, ok := bytes.Cut(rest, []byte(`"content":`))
		if !ok {
			return n
		}
		n += words(bytes.TrimLeft(content, " "))
		rest = content
	}
}

// words counts the words of the quoted text at the start of b.
func words(b []byte) int {
	text, ok := bytes.CutPrefix(b, []byte(`"`))
	if !ok {
		return 0
	}
	text, _, _ = bytes.Cut(text, []byte(`"`))
	return bytes.Count(text, []byte(" ")) + 1
}
