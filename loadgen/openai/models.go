package openai

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/api/scan"
)

// maxName bounds a model's name, in bytes: some are paths.
const maxName = 4 << 10

// A Model is one entry of a server's list. ID is its name in the API. Root is where it was loaded
// from, or the ID if the server does not say.
type Model = openai.Model

// A listedModel is a Model as servers write it. Permissions stay undecoded: decoded, they would
// take many times their bytes.
type listedModel struct {
	Model
	Permission json.RawMessage `json:"permission"`
}

// A modelList is the reply of GET /v1/models: an object with the list in it or, from some servers,
// the list itself.
type modelList struct {
	Data scan.Few[listedModel] `json:"data"`
}

// UnmarshalJSON decodes raw JSON.
func (l *modelList) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, &l.Data)
	}
	type object modelList // has no method
	return json.Unmarshal(raw, (*object)(l))
}

// Models lists the models that the server serves, from GET /v1/models, up to a limit that no server
// reaches. It leaves out entries that cannot be names. It ignores members of the wrong type, such
// as a time in words.
func (s *Server) Models(ctx context.Context) ([]Model, error) {
	var list modelList
	if err := s.get("/v1/models").decode(ctx, &list); err != nil {
		return nil, err
	}
	var models []Model
	for _, listed := range list.Data {
		m := listed.Model
		if !isName(m.ID) {
			continue
		}
		if !isName(m.Root) {
			m.Root = m.ID
		}
		models = append(models, m)
	}
	return models, nil
}

// isName reports whether a text can be the name of a model, to send and to show.
func isName(text string) bool {
	return text != "" && len(text) <= maxName && !strings.ContainsFunc(text, unicode.IsControl)
}
