package dataset

import (
	"encoding/json"
	"errors"

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

// CheckMembers refuses members that a request cannot have for itself. A nil raw has none.
func CheckMembers(raw json.RawMessage) error {
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
