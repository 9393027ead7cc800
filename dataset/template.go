package dataset

import (
	"time"

	"github.com/servebench/servebench/dataset/jinja"
)

// A Template renders a prompt, as the only message of a user, into the text that a model should
// complete. It must be safe for concurrent use.
type Template func(prompt string) (string, error)

// OpenTemplate reads the chat template in a model's folder. The template also gets
// the variables of kwargs, which may be nil, and asks now for the date. An error of
// rendering names the line of the template.
func OpenTemplate(folder string, kwargs *jinja.Kwargs, now func() time.Time) (Template, error) {
	t, err := jinja.Open(folder)
	if err != nil {
		return nil, err
	}
	t.Now = now
	return func(prompt string) (string, error) {
		return t.Render([]jinja.Message{{Role: "user", Content: prompt}}, kwargs)
	}, nil
}
