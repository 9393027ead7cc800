// Package pooling speaks the APIs whose answer is numbers for the whole prompt: embeddings, scores
// of a reranker, and vLLM's pooling.
//
// A Form makes the bodies of one API, byte for byte as vLLM's client does. All APIs are read in the
// same way, by Send: an answer arrives whole, and of it only the number of prompt tokens counts.
package pooling

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Form makes the body of a request with the settings of b. id is the request's id, empty for a
// request without one. A Form is safe for concurrent use.
type Form func(b *request.Body, turn *dataset.Turn, id string) ([]byte, error)

// truncate asks vLLM to cut a prompt that is too long for the model.
var truncate = pyjson.Member{Key: "truncate_prompt_tokens", Value: -1}

// Embeddings is the Form of OpenAI's embeddings.
func Embeddings(b *request.Body, turn *dataset.Turn, _ string) ([]byte, error) {
	input, err := inputOf(turn, &naming.Error{Text: func(by naming.Spelling) string {
		return "an embeddings endpoint takes texts: use " + by.Spell(naming.Backend) + " openai-embeddings-chat"
	}})
	return completed(b, turn, err, pyjson.Member{Key: "input", Value: input}, truncate)
}

// Chat is the Form of vLLM's embeddings of a chat, which may have media.
func Chat(b *request.Body, turn *dataset.Turn, _ string) ([]byte, error) {
	messages, err := b.Messages(turn)
	return completed(b, turn, err, pyjson.Member{Key: "messages", Value: messages}, truncate)
}

// Clip is the Form for models such as CLIP, which embed a text or an image: with media, the text is
// empty.
func Clip(b *request.Body, turn *dataset.Turn, id string) ([]byte, error) {
	if illustrated(turn) {
		turn = said(turn, "")
	}
	return Chat(b, turn, id)
}

// VLM2Vec is the Form for models such as VLM2Vec, whose media come before an instruction. As in
// vLLM's client, the id decides which of two instructions it is.
func VLM2Vec(b *request.Body, turn *dataset.Turn, id string) ([]byte, error) {
	if !illustrated(turn) {
		return Chat(b, turn, id)
	}
	instruction := "Represent the given image."
	if odd(id) {
		instruction = "Represent the given image with the following question: " + turn.Prompt
	}
	parts, err := request.MediaOf(turn)
	parts = append(parts, pyjson.Object{{Key: "type", Value: "text"}, {Key: "text", Value: instruction}})
	messages := []any{pyjson.Object{{Key: "role", Value: "user"}, {Key: "content", Value: parts}}}
	return completed(b, turn, err, pyjson.Member{Key: "messages", Value: messages}, truncate)
}

// odd reports whether the number at the end of an id is odd.
func odd(id string) bool {
	digits := id[len(strings.TrimRight(id, "0123456789")):]
	return digits != "" && digits[len(digits)-1]%2 == 1
}

// Infinity is the Form of Infinity's embeddings. A prompt goes without its media.
func Infinity(b *request.Body, turn *dataset.Turn, _ string) ([]byte, error) {
	if illustrated(turn) && turn.Prompt == "" {
		return medium(b, turn)
	}
	input, err := inputOf(turn, &naming.Error{Text: func(by naming.Spelling) string {
		return "an embeddings endpoint of Infinity takes texts: use " + by.Spell(naming.Backend) +
			" infinity-embeddings-clip for images"
	}})
	return completed(b, turn, err, pyjson.Member{Key: "input", Value: input})
}

// InfinityClip is the Form of Infinity's embeddings of a text or of an image, which goes without the
// prompt.
func InfinityClip(b *request.Body, turn *dataset.Turn, id string) ([]byte, error) {
	if illustrated(turn) {
		turn = said(turn, "")
	}
	return Infinity(b, turn, id)
}

// medium is the body that sends the only medium of turn to Infinity.
func medium(b *request.Body, turn *dataset.Turn) ([]byte, error) {
	if err := OneMedium(turn); err != nil {
		return nil, err
	}
	var part struct {
		Type  string
		Image struct{ URL string } `json:"image_url"`
		Video struct{ URL string } `json:"video_url"`
	}
	if err := json.Unmarshal(turn.Payload.Media[0].Part, &part); err != nil || part.Image.URL+part.Video.URL == "" {
		return nil, errors.New("Infinity takes the URL of an image or a video, and there is none")
	}
	modality, _, _ := strings.Cut(part.Type, "_")
	return completed(b, turn, nil, pyjson.Member{Key: "input", Value: part.Image.URL + part.Video.URL},
		pyjson.Member{Key: "modality", Value: modality})
}

// Pooling is the Form of vLLM's pooling.
func Pooling(b *request.Body, turn *dataset.Turn, _ string) ([]byte, error) {
	input, err := inputOf(turn, errors.New("the pooling endpoint takes texts alone here"))
	return completed(b, turn, err, truncate, pyjson.Member{Key: "input", Value: input})
}

// Rerank is the Form of a reranker's scores. It takes none of the members that b adds to other
// bodies.
func Rerank(b *request.Body, turn *dataset.Turn, _ string) ([]byte, error) {
	if err := Ranked(turn); err != nil {
		return nil, err
	}
	batch := turn.Payload.Batch
	bare := &request.Body{Model: b.Model, Drop: b.Drop}
	return completed(bare, turn, nil, pyjson.Member{Key: "query", Value: batch[0]},
		pyjson.Member{Key: "documents", Value: batch[1:]}, truncate)
}

// completed is the text of a body that begins with the model and these members, unless there is an
// error.
func completed(b *request.Body, turn *dataset.Turn, err error, members ...pyjson.Member) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return b.Complete(append(pyjson.Object{{Key: "model", Value: b.Model}}, members...), turn)
}

// inputOf is the prompt of turn, or its several prompts. otherwise is the error for a prompt that is
// not text.
func inputOf(turn *dataset.Turn, otherwise error) (any, error) {
	switch {
	case turn.Messages != nil || turn.Payload != nil && turn.Payload.Content != nil:
		return nil, otherwise
	case turn.Payload != nil && turn.Payload.Batch != nil:
		return turn.Payload.Batch, nil
	case turn.TokenIDs != nil:
		return turn.TokenIDs, nil
	}
	return turn.Prompt, nil
}

// illustrated reports whether media go with the prompt of turn.
func illustrated(turn *dataset.Turn) bool {
	return turn.Messages == nil && turn.Payload != nil && len(turn.Payload.Media) > 0
}

// said is turn with another prompt.
func said(turn *dataset.Turn, prompt string) *dataset.Turn {
	other := *turn
	other.Prompt = prompt
	return &other
}

// Inputs is how many sequences a request asks for.
func Inputs(turn *dataset.Turn) int {
	if turn.Payload != nil && turn.Payload.Batch != nil {
		return len(turn.Payload.Batch)
	}
	return 1
}

// Documents is how many documents a request has ranked.
func Documents(turn *dataset.Turn) int { return Inputs(turn) - 1 }

// Ranked refuses a turn without a query and documents.
func Ranked(turn *dataset.Turn) error {
	if Inputs(turn) < 2 {
		return &naming.Error{Text: func(by naming.Spelling) string {
			return "vllm-rerank takes a query and documents, as " + by.Spell(naming.Dataset) + " random-rerank has them"
		}}
	}
	return nil
}

// OneMedium refuses a turn with several media.
func OneMedium(turn *dataset.Turn) error {
	if turn.Payload != nil && len(turn.Payload.Media) > 1 {
		return fmt.Errorf("infinity-embeddings-clip takes one image in a request, and a prompt has %d",
			len(turn.Payload.Media))
	}
	return nil
}
