package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// A prefixed writer puts a text before each line. It is safe for concurrent use
// where w is.
type prefixed struct {
	w      io.Writer
	prefix string

	mu   sync.Mutex
	rest []byte // of a line whose end has not come
}

func (p *prefixed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, text...)
	var whole strings.Builder
	for {
		line, rest, ok := bytes.Cut(p.rest, []byte("\n"))
		if !ok {
			break
		}
		whole.WriteString(p.prefix + string(line) + "\n")
		p.rest = rest
	}
	if whole.Len() > 0 {
		if _, err := io.WriteString(p.w, whole.String()); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
