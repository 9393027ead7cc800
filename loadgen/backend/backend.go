// Package backend lists the APIs that a load can call.
//
// A Backend makes the bodies of requests and reads the answers. Its names, its rule for URLs and
// its bodies are vLLM's, where vLLM's client has it.
package backend

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/backend/audio"
	"github.com/servebench/servebench/loadgen/backend/messages"
	"github.com/servebench/servebench/loadgen/backend/pooling"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics"
)

// An Encoder makes the body of a request. id is the request's id, empty for a request without one.
// It is safe for concurrent use.
type Encoder func(turn *dataset.Turn, id string) ([]byte, error)

// A Backend is an API.
type Backend struct {
	Name     string   // as in --backend
	API      string   // what it is called
	Endpoint string   // where servers usually have it
	Suffixes []string // one of them ends every URL of the API

	// Pooling says that the answer is numbers for the whole prompt, such as an embedding, and no text.
	Pooling bool
	// Chat says that answers are streamed as a chat's, whose first chunk may hold a role alone.
	Chat bool
	// Templated says that the server puts prompts into a chat template.
	Templated bool
	// Bound is the member of a body that bounds the answer; empty without one.
	Bound string
	// Messages says that the API takes messages and text, but no token ids.
	Messages bool
	// OneJSON says that answers can be read which are not streamed, but are one JSON object.
	OneJSON bool
	// Counts says that a stream can count its tokens with every chunk.
	Counts bool
	// Media says how the API takes images, videos and sounds.
	Media Media
	// Tools says that it takes tools, and messages with all their parts.
	Tools bool
	// Stores says that servers can keep answers, so that later turns need not repeat them.
	Stores bool
	// Usual says that most servers have it, so that one that lacks it may have the other usual one.
	Usual bool
	// Sampling are the members of a body that set how the API chooses tokens; nil means all that vLLM's
	// client has.
	Sampling []string

	encoder func(*openai.Body) Encoder
	sender  func(*openai.Endpoint) engine.Sender
	inputs  func(*dataset.Turn) int   // nil for what pooling.Inputs counts
	fits    func(*dataset.Turn) error // nil if the API takes all turns
}

// Media is how an API takes images, videos and sounds.
type Media int

// The ways to take media.
const (
	NoMedia Media = iota
	Parts         // as parts of messages
	Files         // as a file
)

// All are the backends: vLLM's in the order of vLLM's client, and then others.
var All = []*Backend{
	{Name: "vllm", API: completions, Endpoint: "/v1/completions", Suffixes: []string{"completions"},
		Bound: "max_tokens", OneJSON: true, Counts: true, Usual: true, encoder: encoded(openai.Completions),
		sender: streamed(openai.Completions)},
	{Name: "openai", API: completions, Endpoint: "/v1/completions", Suffixes: []string{"completions"},
		Bound: "max_tokens", OneJSON: true, Counts: true, Usual: true, encoder: encoded(openai.Completions),
		sender: streamed(openai.Completions)},
	{Name: "openai-chat", API: "OpenAI Chat Completions API", Endpoint: "/v1/chat/completions",
		Suffixes: []string{"chat/completions"}, Chat: true, Templated: true, Bound: "max_completion_tokens",
		Messages: true, Media: Parts, Tools: true, OneJSON: true, Counts: true, Usual: true,
		encoder: encoded(openai.Chat), sender: streamed(openai.Chat)},
	{Name: "openai-responses", API: "OpenAI Responses API", Endpoint: "/v1/responses", Suffixes: []string{"responses"},
		Templated: true, Bound: "max_output_tokens", Messages: true, Stores: true, OneJSON: true,
		encoder: encoded(openai.Responses), sender: streamed(openai.Responses)},
	{Name: "openai-audio", API: "OpenAI Audio API", Endpoint: "/v1/audio/transcriptions",
		Suffixes: []string{"transcriptions", "translations"}, Chat: true, Bound: "max_completion_tokens",
		Messages: true, Media: Files, OneJSON: true, Counts: true, encoder: forms, sender: audio.Sender},
	{Name: "openai-embeddings", API: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, encoder: formed(pooling.Embeddings), sender: pooling.Sender},
	{Name: "openai-embeddings-chat", API: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Templated: true, Messages: true, Media: Parts, encoder: formed(pooling.Chat), sender: pooling.Sender},
	{Name: "openai-embeddings-clip", API: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, Media: Parts, encoder: formed(pooling.Clip), sender: pooling.Sender},
	{Name: "openai-embeddings-vlm2vec", API: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, Media: Parts, encoder: formed(pooling.VLM2Vec), sender: pooling.Sender},
	{Name: "infinity-embeddings", API: infinity, Endpoint: "/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, encoder: formed(pooling.Infinity), sender: pooling.Sender},
	{Name: "infinity-embeddings-clip", API: infinity, Endpoint: "/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, Media: Parts, fits: pooling.OneMedium, encoder: formed(pooling.InfinityClip),
		sender: pooling.Sender},
	{Name: "vllm-pooling", API: "vLLM Pooling API", Endpoint: "/pooling", Suffixes: []string{"pooling"},
		Pooling: true, encoder: formed(pooling.Pooling), sender: pooling.Sender},
	{Name: "vllm-rerank", API: "vLLM score API", Endpoint: "/v1/rerank", Suffixes: []string{"rerank"},
		Pooling: true, Messages: true, inputs: pooling.Documents, fits: pooling.Ranked, encoder: formed(pooling.Rerank),
		sender: pooling.Sender},
	{Name: "anthropic", API: "Anthropic Messages API", Endpoint: "/v1/messages", Suffixes: []string{"/messages"},
		Templated: true, Bound: "max_tokens", Messages: true, Media: Parts, Tools: true, OneJSON: true,
		Sampling: []string{"temperature", "top_p", "top_k"}, encoder: anthropic, sender: messages.Sender},
}

const (
	completions = "OpenAI Completions API"
	embeddings  = "OpenAI Embeddings API"
	infinity    = "Infinity Embeddings API"
)

// Find is the backend of that name, nil if there is none.
func Find(name string) *Backend {
	i := slices.IndexFunc(All, func(b *Backend) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Names are the names of All.
func Names() []string {
	names := make([]string, len(All))
	for i, b := range All {
		names[i] = b.Name
	}
	return names
}

// Endpoints are the usual endpoints of All, each once.
func Endpoints() []string {
	var paths []string
	for _, b := range All {
		if !slices.Contains(paths, b.Endpoint) {
			paths = append(paths, b.Endpoint)
		}
	}
	return paths
}

// List writes a table of All to w: their names, where servers usually have them, and what they are.
func List(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BACKEND\tENDPOINT\tAPI\tANSWER")
	for _, b := range All {
		answer := "text"
		if b.Pooling {
			answer = "numbers"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", b.Name, b.Endpoint, b.API, answer)
	}
	return table.Flush()
}

// Traits are what reports need to know of the API.
func (b *Backend) Traits() metrics.Traits {
	return metrics.Traits{
		Chat: b.Chat, Pooled: b.Pooling, Spoken: b.Forms(), Templated: b.Templated, LengthMember: b.Bound,
		CountsLast: !b.Counts,
	}
}

// Forms reports whether a request is a form with a file, to which the settings of sampling do not apply.
func (b *Backend) Forms() bool { return b.Media == Files }

// Has reports whether a URL, or its path, can be of the API.
func (b *Backend) Has(url string) bool {
	return slices.ContainsFunc(b.Suffixes, func(suffix string) bool { return strings.HasSuffix(url, suffix) })
}

// Encoder returns what makes bodies with the settings of body, of which the Backend takes what its
// API has.
func (b *Backend) Encoder(body openai.Body) Encoder { return b.encoder(&body) }

// Sender returns what sends requests to an endpoint of the API.
func (b *Backend) Sender(to *openai.Endpoint) engine.Sender { return b.sender(to) }

// Inputs is how many sequences a request to a Pooling API asks for; 0 for other APIs.
func (b *Backend) Inputs(turn *dataset.Turn) int {
	switch {
	case !b.Pooling:
		return 0
	case b.inputs != nil:
		return b.inputs(turn)
	}
	return pooling.Inputs(turn)
}

// Picky reports whether Fits refuses some turns.
func (b *Backend) Picky() bool { return b.fits != nil }

// Fits says why the API cannot take a turn; nil if it can, as far as is known before its body is made.
func (b *Backend) Fits(turn *dataset.Turn) error {
	if b.fits == nil {
		return nil
	}
	return b.fits(turn)
}

// formed makes the bodies of a pooling API.
func formed(form pooling.Form) func(*openai.Body) Encoder {
	return func(body *openai.Body) Encoder {
		return func(turn *dataset.Turn, id string) ([]byte, error) { return form(body, turn, id) }
	}
}

// encoded makes the bodies of an API whose prompts need no id.
func encoded(api *openai.Protocol) func(*openai.Body) Encoder {
	return func(body *openai.Body) Encoder {
		body.Protocol = api
		encode := body.Encoder()
		return func(turn *dataset.Turn, _ string) ([]byte, error) { return encode(turn) }
	}
}

func forms(body *openai.Body) Encoder {
	encode := audio.Encoder(body)
	return func(turn *dataset.Turn, _ string) ([]byte, error) { return encode(turn) }
}

func anthropic(body *openai.Body) Encoder { return messages.Encoder(body) }

// streamed reads the answers of an API.
func streamed(api *openai.Protocol) func(*openai.Endpoint) engine.Sender {
	return func(to *openai.Endpoint) engine.Sender {
		to.Protocol = api
		return to.Send
	}
}
