package openai

import (
	"context"
	"errors"

	"github.com/servebench/servebench/metrics/record"
)

// Version is the version of its program that the server says: vLLM in GET /version, llama.cpp in
// GET /props, Ollama in GET /api/version. It is empty if none of them has one, or if the server does
// not answer.
func (s *Server) Version(ctx context.Context) string {
	for _, path := range []string{"/version", "/props", "/api/version"} {
		var said struct {
			Version string `json:"version"`
			Build   string `json:"build_info"`
		}
		err := s.get(path).decode(ctx, &said)
		if f, ok := errors.AsType[*record.Failure](err); ok && f.Class != record.Status {
			return ""
		}
		for _, text := range []string{said.Version, said.Build} {
			if err == nil && len(text) <= maxVersion && isName(text) {
				return text
			}
		}
	}
	return ""
}

// maxVersion bounds the text of a version, in bytes.
const maxVersion = 200
