// Package api lists the APIs that a load can call.
//
// An API makes the bodies of requests and reads the answers. Its room below has what is special about it.
// Packages exchange and request have what APIs share, and know none of them; chunk has what those after
// OpenAI's completions share. Names, rules for URLs and bodies are vLLM's, where vLLM's client has the API.
package api

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/audio"
	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/messages"
	"github.com/servebench/servebench/loadgen/api/ollama"
	"github.com/servebench/servebench/loadgen/api/pooling"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/api/responses"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// An API is one that a load can call.
type API struct {
	Name     string   // as in --backend
	Title    string   // what it is called
	Endpoint string   // where servers usually have it
	Suffixes []string // one of them ends every URL of the API

	// Pooling says that the answer is numbers for the whole prompt, such as an embedding, and no text.
	Pooling bool
	// Chat says that answers are streamed as a chat's, whose first chunk may hold a role alone.
	Chat bool
	// Templated says that the server puts prompts into a chat template.
	Templated bool
	// Bounds are the members of a body that bound the answer: first the one that bodies have, and then others that
	// servers take; nil without one.
	Bounds []string
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
	// Stops says that answers end where the model ends them, since the API has no ignore_eos.
	Stops bool
	// Usual says that most servers have it, so that one that lacks it may have the other usual one.
	Usual bool
	// Sampling are the members of a body that set how the API chooses tokens; nil means all that vLLM's
	// client has.
	Sampling []string

	room room
}

// A room is what the package of an API does.
type room struct {
	encoder func(*request.Body) request.Encoder
	sender  func(*exchange.Endpoint) engine.Sender
	inputs  func(*dataset.Turn) int   // nil for what pooling.Inputs counts
	fits    func(*dataset.Turn) error // nil if the API takes all turns
	// bounded finds bounds that are no members of the body itself; nil without them.
	bounded func(pyjson.Object) bool
	// after is nil if servers keep no answers.
	after func(body *request.Body, turn *dataset.Turn, answer json.RawMessage) ([]byte, error)
}

// Media is how an API takes images, videos and sounds.
type Media int

// The ways to take media.
const (
	NoMedia Media = iota
	Parts         // as parts of messages
	Files         // as a file
)

// All are the APIs: vLLM's in the order of vLLM's client, and then others.
var All = []*API{
	{Name: "vllm", Title: openAI, Endpoint: "/v1/completions", Suffixes: []string{"completions"},
		Bounds: []string{"max_tokens", "max_completion_tokens"}, OneJSON: true, Counts: true, Usual: true,
		room: room{encoder: encoded(completions.Form), sender: streamed(completions.Protocol)}},
	{Name: "openai", Title: openAI, Endpoint: "/v1/completions", Suffixes: []string{"completions"},
		Bounds: []string{"max_tokens", "max_completion_tokens"}, OneJSON: true, Counts: true, Usual: true,
		room: room{encoder: encoded(completions.Form), sender: streamed(completions.Protocol)}},
	{Name: "openai-chat", Title: "OpenAI Chat Completions API", Endpoint: "/v1/chat/completions",
		Suffixes: []string{"chat/completions"}, Chat: true, Templated: true,
		Bounds: []string{"max_completion_tokens", "max_tokens"}, Messages: true, Media: Parts, Tools: true, OneJSON: true,
		Counts: true, Usual: true,
		room: room{encoder: encoded(chat.Form), sender: streamed(chat.Protocol)}},
	{Name: "openai-responses", Title: "OpenAI Responses API", Endpoint: "/v1/responses", Suffixes: []string{"responses"},
		Templated: true, Bounds: []string{"max_output_tokens"}, Messages: true, OneJSON: true,
		room: room{encoder: encoded(responses.Form), after: responses.After, sender: streamed(responses.Protocol)}},
	{Name: "openai-audio", Title: "OpenAI Audio API", Endpoint: "/v1/audio/transcriptions",
		Suffixes: []string{"transcriptions", "translations"}, Chat: true,
		Bounds: []string{"max_completion_tokens", "max_tokens"}, Messages: true, Media: Files, OneJSON: true, Counts: true,
		room: room{encoder: audio.Encoder, sender: audio.Sender}},
	{Name: "openai-embeddings", Title: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true,
		room:    room{encoder: formed(pooling.Embeddings), sender: pooling.Sender}},
	{Name: "openai-embeddings-chat", Title: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Templated: true, Messages: true, Media: Parts,
		room: room{encoder: formed(pooling.Chat), sender: pooling.Sender}},
	{Name: "openai-embeddings-clip", Title: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, Media: Parts,
		room: room{encoder: formed(pooling.Clip), sender: pooling.Sender}},
	{Name: "openai-embeddings-vlm2vec", Title: embeddings, Endpoint: "/v1/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, Media: Parts,
		room: room{encoder: formed(pooling.VLM2Vec), sender: pooling.Sender}},
	{Name: "infinity-embeddings", Title: infinity, Endpoint: "/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true,
		room: room{encoder: formed(pooling.Infinity), sender: pooling.Sender}},
	{Name: "infinity-embeddings-clip", Title: infinity, Endpoint: "/embeddings", Suffixes: []string{"embeddings"},
		Pooling: true, Messages: true, Media: Parts,
		room: room{fits: pooling.OneMedium, encoder: formed(pooling.InfinityClip), sender: pooling.Sender}},
	{Name: "vllm-pooling", Title: "vLLM Pooling API", Endpoint: "/pooling", Suffixes: []string{"pooling"},
		Pooling: true,
		room:    room{encoder: formed(pooling.Pooling), sender: pooling.Sender}},
	{Name: "vllm-rerank", Title: "vLLM score API", Endpoint: "/v1/rerank", Suffixes: []string{"rerank"},
		Pooling: true, Messages: true,
		room: room{inputs: pooling.Documents, fits: pooling.Ranked, encoder: formed(pooling.Rerank), sender: pooling.Sender}},
	{Name: "anthropic", Title: "Anthropic Messages API", Endpoint: "/v1/messages", Suffixes: []string{"/messages"},
		Templated: true, Bounds: []string{"max_tokens"}, Messages: true, Media: Parts, Tools: true, OneJSON: true,
		Sampling: []string{"temperature", "top_p", "top_k"},
		room:     room{encoder: messages.Encoder, sender: messages.Sender}},
	{Name: "ollama", Title: "Ollama's API", Endpoint: ollama.Paths[0], Suffixes: ollama.Paths, Templated: true,
		Bounds: ollama.Bounds, Messages: true, Media: Parts, Tools: true, OneJSON: true, Stops: true,
		Sampling: ollama.Sampling,
		room:     room{bounded: ollama.Bounded, encoder: ollama.Encoder, sender: ollama.Sender}},
}

const (
	openAI     = "OpenAI Completions API"
	embeddings = "OpenAI Embeddings API"
	infinity   = "Infinity Embeddings API"
)

// Find is the API of that name, nil if there is none.
func Find(name string) *API {
	i := slices.IndexFunc(All, func(b *API) bool { return b.Name == name })
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

// WithTools names the APIs that take tools, and messages with all their parts, for a sentence: a, b or c.
func WithTools() string {
	var names []string
	for _, b := range All {
		if b.Tools {
			names = append(names, b.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
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
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", b.Name, b.Endpoint, b.Title, answer)
	}
	return table.Flush()
}

// Optional are the members of bodies, of any API, that a request need not have, in alphabetical order.
func Optional() []string {
	all := []string{"ignore_eos", "logprobs", "repetition_penalty", "stream", "stream_options", "truncate_prompt_tokens"}
	for _, b := range All {
		all = append(all, b.Bounds...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Traits are what reports need to know of the API.
func (b *API) Traits() metrics.Traits {
	return metrics.Traits{
		Chat: b.Chat, Pooled: b.Pooling, Spoken: b.Forms(), Templated: b.Templated, LengthMember: b.bound(),
		CountsLast: !b.Counts,
	}
}

// bound is the member that bounds the answer in bodies; empty without one.
func (b *API) bound() string {
	if len(b.Bounds) == 0 {
		return ""
	}
	return b.Bounds[0]
}

// Bounded reports whether members that a body gets bound the answer.
func (b *API) Bounded(members pyjson.Object) bool {
	own := slices.ContainsFunc(members, func(m pyjson.Member) bool { return slices.Contains(b.Bounds, m.Key) })
	return own || b.room.bounded != nil && b.room.bounded(members)
}

// Forms reports whether a request is a form with a file, to which the settings of sampling do not apply.
func (b *API) Forms() bool { return b.Media == Files }

// Has reports whether a URL, or its path, can be of the API.
func (b *API) Has(url string) bool {
	return slices.ContainsFunc(b.Suffixes, func(suffix string) bool { return strings.HasSuffix(url, suffix) })
}

// Encoder returns what makes bodies with the settings of body, of which it takes what its
// API has.
func (b *API) Encoder(body request.Body) request.Encoder { return b.room.encoder(&body) }

// Stores reports whether servers can keep answers, so that later turns need not repeat them.
func (b *API) Stores() bool { return b.room.after != nil }

// After makes the body that sends only what turn adds to the answer before it, to a server that has kept that answer.
// answer is an Answer of package exchange, and the API Stores answers.
func (b *API) After(body *request.Body, turn *dataset.Turn, answer json.RawMessage) ([]byte, error) {
	return b.room.after(body, turn, answer)
}

// Sender returns what sends requests to an endpoint of the API.
func (b *API) Sender(to *exchange.Endpoint) engine.Sender { return b.room.sender(to) }

// Inputs is how many sequences a request to a Pooling API asks for; 0 for other APIs.
func (b *API) Inputs(turn *dataset.Turn) int {
	switch {
	case !b.Pooling:
		return 0
	case b.room.inputs != nil:
		return b.room.inputs(turn)
	}
	return pooling.Inputs(turn)
}

// Picky reports whether Fits refuses some turns.
func (b *API) Picky() bool { return b.room.fits != nil }

// Fits says why the API cannot take a turn; nil if it can, as far as is known before its body is made.
func (b *API) Fits(turn *dataset.Turn) error {
	if b.room.fits == nil {
		return nil
	}
	return b.room.fits(turn)
}

// formed makes the bodies of a pooling API.
func formed(form pooling.Form) func(*request.Body) request.Encoder {
	return func(body *request.Body) request.Encoder {
		return func(turn *dataset.Turn, id string) ([]byte, error) { return form(body, turn, id) }
	}
}

// encoded makes the bodies of an API whose prompts need no id.
func encoded(form *request.Form) func(*request.Body) request.Encoder {
	return func(body *request.Body) request.Encoder {
		body.Form = form
		return body.Encoder()
	}
}

// streamed reads the answers of an API.
func streamed(api *exchange.Protocol) func(*exchange.Endpoint) engine.Sender {
	return func(to *exchange.Endpoint) engine.Sender {
		to.Protocol = api
		return to.Send
	}
}
