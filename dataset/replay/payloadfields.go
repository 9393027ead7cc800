package replay

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// payloadFields are what a line has of a Payload.
type payloadFields struct {
	Batch   []string        `json:"batch,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	Media   []lineMedium    `json:"media,omitempty"`
	Within  []dataset.Kind  `json:"within,omitempty"`
	Members json.RawMessage `json:"extra_body,omitempty"`
}

// A lineMedium is a Medium in a line, with the fields of its Upload.
type lineMedium struct {
	Kind    dataset.Kind    `json:"kind"`
	Part    json.RawMessage `json:"part,omitempty"`
	Name    string          `json:"name,omitempty"`
	Type    string          `json:"type,omitempty"`
	Data    []byte          `json:"data,omitempty"`
	Seconds float64         `json:"seconds,omitempty"`
}

// payloadOf is p as a line has it. A nil p has none.
func payloadOf(p *dataset.Payload) (f payloadFields) {
	if p == nil {
		return f
	}
	f.Batch, f.Content, f.Within, f.Members = p.Batch, p.Content, p.Within, p.Members
	for i := range p.Media {
		m := &p.Media[i]
		l := lineMedium{Kind: m.Kind, Part: m.Part, Seconds: m.Seconds}
		if m.Upload != nil {
			l.Name, l.Type, l.Data = m.Upload.Name, m.Upload.Type, m.Upload.Data
		}
		f.Media = append(f.Media, l)
	}
	return f
}

// any reports whether the line has a Payload.
func (f *payloadFields) any() bool {
	return f.prompts() || f.Within != nil || rows.Present(f.Members)
}

// prompts reports whether the line has a prompt in its Payload.
func (f *payloadFields) prompts() bool {
	return f.Batch != nil || rows.Present(f.Content) || f.Media != nil
}

// payload is the Payload of a line; nil for none.
func (f *payloadFields) payload() *dataset.Payload {
	if !f.any() {
		return nil
	}
	p := &dataset.Payload{Batch: f.Batch, Within: f.Within}
	if rows.Present(f.Content) {
		p.Content = f.Content
	}
	if rows.Present(f.Members) {
		p.Members = f.Members
	}
	for i := range f.Media {
		l := &f.Media[i]
		m := dataset.Medium{Kind: l.Kind, Seconds: l.Seconds}
		if rows.Present(l.Part) {
			m.Part = l.Part
		}
		if l.Name != "" {
			m.Upload = &dataset.Upload{Name: l.Name, Type: l.Type, Data: l.Data}
		}
		p.Media = append(p.Media, m)
	}
	return p
}

// checkPayload refuses a payload that cannot be sent.
func (f *payloadFields) checkPayload() error {
	var parts []json.RawMessage
	switch {
	case f.Batch != nil && len(f.Batch) == 0:
		return errors.New(`"batch" has no prompt`)
	case rows.Present(f.Content) && (json.Unmarshal(f.Content, &parts) != nil || len(parts) == 0):
		return errors.New(`"content" must be a list of at least one part`)
	}
	for i := range f.Media {
		m := &f.Media[i]
		if m.Kind != dataset.Image && m.Kind != dataset.Video && m.Kind != dataset.Sound {
			return fmt.Errorf(`medium %d has the kind %q: it must be image, video or audio`, i+1, m.Kind)
		}
		if rows.Present(m.Part) && m.Part[0] != '{' {
			return fmt.Errorf(`medium %d has a "part" that is no object`, i+1)
		}
		if !rows.Present(m.Part) && m.Name == "" {
			return fmt.Errorf(`medium %d has no "part" and no file`, i+1)
		}
	}
	return dataset.CheckMembers(f.Members)
}
