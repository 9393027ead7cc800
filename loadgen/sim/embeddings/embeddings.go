// Package embeddings answers requests for embeddings, pooling and scores in front of a server of
// completions, as vLLM and Infinity do.
//
// A Handler turns each sequence of a request into a completion of one token, all at once: so the times
// are what reading the prompts takes. The numbers follow from the text alone.
package embeddings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// maxBody is the longest body of a request in bytes, and maxSequences bounds its sequences.
const (
	maxBody      = 64 << 20
	maxSequences = 4096
)

// A Handler answers POST for paths that end in embeddings, pooling, rerank and score. It is safe for
// concurrent use.
type Handler struct {
	// Completions and Chat answer POST /v1/completions and /v1/chat/completions as vLLM does.
	Completions, Chat http.Handler
	// Dimensions is the length of an embedding if the request does not set one.
	Dimensions int
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := read(r)
	if err != nil {
		refuse(w, err.Error())
		return
	}
	replies := h.ask(r, a)
	for _, reply := range replies {
		if reply.status > http.StatusOK {
			maps.Copy(w.Header(), reply.header)
			w.WriteHeader(reply.status)
			w.Write(reply.body.Bytes())
			return
		}
	}
	tokens := 0
	for _, reply := range replies {
		var answer struct{ Usage usage }
		if err := json.Unmarshal(reply.body.Bytes(), &answer); err != nil {
			panic(fmt.Sprintf("sim: an answer that is not streamed is no JSON: %v", err))
		}
		tokens += answer.Usage.Prompt
	}
	a.answer(w, &usage{Prompt: tokens, Total: tokens}, h.Dimensions)
}

// ask sends the sequences of a, all at once, and waits for their answers. What ends one of them by a
// panic ends the request so.
func (h *Handler) ask(r *http.Request, a *requestBody) []*reply {
	replies := make([]*reply, len(a.sequences))
	ended := make(chan any, len(replies))
	var all sync.WaitGroup
	for i, s := range a.sequences {
		all.Go(func() {
			defer func() {
				if why := recover(); why != nil {
					ended <- why
				}
			}()
			replies[i] = &reply{header: http.Header{}}
			h.sequence(replies[i], r, a.Model, s, i)
		})
	}
	all.Wait()
	select {
	case why := <-ended:
		panic(why)
	default:
	}
	return replies
}

// A reply is the answer about one sequence.
type reply struct {
	header http.Header
	status int // 0 means 200
	body   bytes.Buffer
}

// Header, WriteHeader and Write are of an http.ResponseWriter.
func (r *reply) Header() http.Header         { return r.header }
func (r *reply) WriteHeader(status int)      { r.status = status }
func (r *reply) Write(b []byte) (int, error) { return r.body.Write(b) }

// sequence has a model read one sequence.
func (h *Handler) sequence(w http.ResponseWriter, r *http.Request, model string, s sequence, i int) {
	body := map[string]any{"max_tokens": 1, "ignore_eos": true}
	if model != "" {
		body["model"] = model
	}
	to, path := h.Completions, "/v1/completions"
	if s.messages != nil {
		to, path, body["messages"] = h.Chat, "/v1/chat/completions", s.messages
	} else {
		body["prompt"] = s.prompt
	}
	text := mustJSON(body)
	asked := r.Clone(r.Context())
	asked.URL.Path = path
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	if id := r.Header.Get("X-Request-Id"); id != "" && i > 0 {
		asked.Header.Set("X-Request-Id", id+"-"+strconv.Itoa(i))
	}
	to.ServeHTTP(w, asked)
}

// A sequence is what the model reads at once: a prompt, as text or token ids, or messages.
type sequence struct {
	prompt   json.RawMessage
	messages json.RawMessage
}

// A requestBody is a request.
type requestBody struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Modality   string          `json:"modality"` // of an Input for Infinity; empty for text
	Messages   json.RawMessage `json:"messages"`
	Query      string          `json:"query"`
	Documents  []document      `json:"documents"`
	Top        int             `json:"top_n"` // 0 for all
	Text1      texts           `json:"text_1"`
	Text2      texts           `json:"text_2"`
	Encoding   string          `json:"encoding_format"`
	Dimensions int             `json:"dimensions"`

	path      string
	sequences []sequence
}

// read reads a request.
func read(r *http.Request) (*requestBody, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %v", err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("the body is longer than %d MiB", maxBody>>20)
	}
	a := &requestBody{path: r.URL.Path}
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("the body does not fit: %v", err)
	}
	switch {
	case strings.HasSuffix(a.path, "rerank"):
		err = a.rank()
	case strings.HasSuffix(a.path, "score"):
		err = a.compare()
	default:
		err = a.embed()
	}
	if err == nil && len(a.sequences) > maxSequences {
		err = fmt.Errorf("%d sequences are more than %d", len(a.sequences), maxSequences)
	}
	if err == nil && (a.Dimensions < 0 || a.Dimensions > 1<<16) {
		err = fmt.Errorf("`dimensions` must be from 1 to %d", 1<<16)
	}
	return a, err
}

// embed takes the sequences of an input: a text, token ids, or a list of one of these.
func (a *requestBody) embed() error {
	switch {
	case a.Messages != nil:
		a.sequences = []sequence{{messages: a.Messages}}
		return nil
	case len(a.Input) == 0:
		return fmt.Errorf("`input` or `messages` must be given")
	case a.Modality != "" && a.Modality != "text":
		part := map[string]any{"type": a.Modality + "_url", a.Modality + "_url": map[string]any{"url": a.Input}}
		a.sequences = []sequence{{messages: mustJSON([]any{map[string]any{"role": "user", "content": []any{part}}})}}
		return nil
	}
	var list []json.RawMessage
	several := json.Unmarshal(a.Input, &list) == nil && len(list) > 0 && (list[0][0] == '"' || list[0][0] == '[')
	if !several {
		list = []json.RawMessage{a.Input}
	}
	for _, one := range list {
		a.sequences = append(a.sequences, sequence{prompt: one})
	}
	return nil
}

// rank takes a pair of the query and each document.
func (a *requestBody) rank() error {
	if a.Query == "" || len(a.Documents) == 0 {
		return fmt.Errorf("`query` and `documents` must be given")
	}
	for _, d := range a.Documents {
		a.pair(a.Query, d.Text)
	}
	return nil
}

// compare takes pairs of the texts on both sides; one text on the left goes with all on the right.
func (a *requestBody) compare() error {
	left, right := a.Text1, a.Text2
	if len(left) == 1 {
		for range len(right) - 1 {
			left = append(left, left[0])
		}
	}
	if len(left) != len(right) || len(left) == 0 {
		return fmt.Errorf("`text_1` has %d texts, and `text_2` has %d", len(a.Text1), len(a.Text2))
	}
	for i := range left {
		a.pair(left[i], right[i])
	}
	return nil
}

// pair adds two texts that the model reads together.
func (a *requestBody) pair(one, other string) {
	a.sequences = append(a.sequences, sequence{prompt: mustJSON(one + " " + other)})
}

// A document is a text, or an object with one.
type document struct {
	Text string `json:"text"`
}

// UnmarshalJSON reads either.
func (d *document) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &d.Text) == nil {
		return nil
	}
	type object document // without methods
	return json.Unmarshal(raw, (*object)(d))
}

// texts are a text, or a list of texts.
type texts []string

// UnmarshalJSON reads either.
func (t *texts) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}
