package openai

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// maxName bounds a model's name, in bytes: some are paths.
const maxName = 4 << 10

// A Model is one entry of a server's list.
type Model struct {
	ID   string `json:"id"`   // its name in the API
	Root string `json:"root"` // what it was loaded from; the ID where the server does not say
}

// A modelList is the reply of GET /v1/models: an object with the list in it, or, from
// some servers, the list alone.
type modelList struct {
	Data few[Model] `json:"data"`
}

// UnmarshalJSON reads raw, which is JSON.
func (l *modelList) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, &l.Data)
	}
	type object modelList // has no method
	return json.Unmarshal(raw, (*object)(l))
}

// Models lists what the server serves, from GET /v1/models: the first of a list
// that is longer than any server's. What cannot be a name is left out.
func (s *Server) Models(ctx context.Context) ([]Model, error) {
	var list modelList
	if err := s.call(ctx, "/v1/models", nil, &list); err != nil {
		return nil, err
	}
	models := slices.DeleteFunc([]Model(list.Data), func(m Model) bool { return !isName(m.ID) })
	for i := range models {
		if m := &models[i]; !isName(m.Root) {
			m.Root = m.ID
		}
	}
	return models, nil
}

// isName says whether a text can be the name of a model: it is sent back, and
// shown.
func isName(text string) bool {
	return text != "" && len(text) <= maxName && !strings.ContainsFunc(text, unicode.IsControl)
}
