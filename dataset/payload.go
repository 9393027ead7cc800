package dataset

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/servebench/servebench/dataset/rows"
)

// A Payload is what a request has apart from one prompt of text or token ids. Nobody changes it once
// its turn has been yielded.
type Payload struct {
	// Batch are several prompts in one request, in place of the Prompt. For a reranker, the query comes
	// first, and then its documents.
	Batch []string

	// Content is the prompt as a list of content parts of a chat, text and media in their order, in
	// place of the Prompt.
	Content json.RawMessage

	// Media go with the prompt, in their order, unless the turn has Messages: these have the media
	// already.
	Media []Medium

	// Within are the kinds of the media that Content or the turn's Messages have and Media lack.
	Within []Kind

	// Members is an object whose members the body of this request has. They replace members of the
	// same name, also those that the run sets.
	Members json.RawMessage
}

// A Kind is the kind of a Medium.
type Kind string

// The kinds of media.
const (
	Image Kind = "image"
	Video Kind = "video"
	Sound Kind = "audio"
)

// A Medium is an image, a video or a sound.
type Medium struct {
	Kind Kind

	// Part is the medium as a content part of a chat, an object in the spelling of Python's
	// json.dumps; nil if only endpoints for files take it.
	Part json.RawMessage

	// Upload is the medium as a file, for endpoints that take files; nil if only chats take it.
	Upload *Upload

	Seconds float64 // how long a sound lasts; 0 if unknown
}

// An Upload is a file to send.
type Upload struct {
	Name string // such as audio.wav
	Type string // its media type, such as audio/wav
	Data []byte
}

// payloadFields are what a line has of a Payload.
type payloadFields struct {
	Batch   []string        `json:"batch,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	Media   []lineMedium    `json:"media,omitempty"`
	Within  []Kind          `json:"within,omitempty"`
	Members json.RawMessage `json:"extra_body,omitempty"`
}

// A lineMedium is a Medium in a line, with the fields of its Upload.
type lineMedium struct {
	Kind    Kind            `json:"kind"`
	Part    json.RawMessage `json:"part,omitempty"`
	Name    string          `json:"name,omitempty"`
	Type    string          `json:"type,omitempty"`
	Data    []byte          `json:"data,omitempty"`
	Seconds float64         `json:"seconds,omitempty"`
}

// fields are p as a line has it. A nil p has none.
func (p *Payload) fields() (f payloadFields) {
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
func (f *payloadFields) payload() *Payload {
	if !f.any() {
		return nil
	}
	p := &Payload{Batch: f.Batch, Within: f.Within}
	if rows.Present(f.Content) {
		p.Content = f.Content
	}
	if rows.Present(f.Members) {
		p.Members = f.Members
	}
	for i := range f.Media {
		l := &f.Media[i]
		m := Medium{Kind: l.Kind, Seconds: l.Seconds}
		if rows.Present(l.Part) {
			m.Part = l.Part
		}
		if l.Name != "" {
			m.Upload = &Upload{Name: l.Name, Type: l.Type, Data: l.Data}
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
		if m.Kind != Image && m.Kind != Video && m.Kind != Sound {
			return fmt.Errorf(`medium %d has the kind %q: it must be image, video or audio`, i+1, m.Kind)
		}
		if rows.Present(m.Part) && m.Part[0] != '{' {
			return fmt.Errorf(`medium %d has a "part" that is no object`, i+1)
		}
		if !rows.Present(m.Part) && m.Name == "" {
			return fmt.Errorf(`medium %d has no "part" and no file`, i+1)
		}
	}
	return checkMembers(f.Members)
}

// checkMembers refuses members that a request cannot have for itself. A nil raw has none.
func checkMembers(raw json.RawMessage) error {
	if !rows.Present(raw) {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return errors.New(`"extra_body" is no object`)
	}
	if _, there := members["stream"]; there {
		return errors.New(`"extra_body" has "stream": all answers of a run are streamed, or none: set it with --extra-body`)
	}
	return nil
}
