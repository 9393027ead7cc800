package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Sampling says what else to ask of the model, apart from the prompt.
type Sampling struct {
	// Temperature is also in ExtraBody; nil leaves it to the server.
	Temperature *float64

	// IgnoreEOS makes answers go on to their full length.
	IgnoreEOS bool

	// Logprobs is how many log probabilities to ask for with each token; nil for none.
	Logprobs *int

	// ExtraBody is merged into every body.
	ExtraBody pyjson.Object

	// UsageAlways asks for token counts in every chunk.
	UsageAlways bool

	// PlainText sends the content of a chat's messages as a string.
	PlainText bool

	// Drop are members that bodies leave out.
	Drop []string
}

// IgnoresEOS reports whether requests of w ask a server for answers that go on past the end that the model gives them.
func (s *Sampling) IgnoresEOS(w *Workload, of *Server) bool {
	asked := s.IgnoreEOS || w.Has(kinds.ExactOutput) && !of.Pooling()
	api := of.API()
	return asked && (api == nil || !api.Stops)
}

// Exact reports whether an answer must have all tokens that the dataset asks for: with ignore_eos,
// and nothing in the body that ends it earlier.
func (s *Sampling) Exact(of *Server) bool {
	return s.IgnoreEOS && !s.OwnLength(of) && !s.Drops("ignore_eos") && !s.Sends("ignore_eos", "stop", "stop_token_ids")
}

// OwnLength reports whether the body does not bound the answer as the dataset does: it has another
// bound, or no bound, or asks for several answers, whose tokens count together.
func (s *Sampling) OwnLength(of *Server) bool {
	api := of.API()
	bounded := api != nil && (api.Bounded(s.ExtraBody) || s.Drops(api.Bounds...))
	return bounded || s.Sends("n", "best_of")
}

// Answers is how many answers each request asks for; 0 for one. best_of has the server make more of them
// than it sends.
func (s *Sampling) Answers() (most int) {
	for _, key := range []string{"n", "best_of"} {
		value, _ := s.ExtraBody.Get(key)
		if n, err := strconv.Atoi(fmt.Sprint(value)); err == nil && n > 1 {
			most = max(most, n)
		}
	}
	return most
}

// Sends reports whether one of the members was given for the body.
func (s *Sampling) Sends(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, given := s.ExtraBody.Get(key)
		return given
	})
}

// Drops reports whether one of the members is left out of the body.
func (s *Sampling) Drops(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(s.Drop, key) })
}

// Continuous reports that the body given by the user asks for the count of tokens with every chunk.
func (s *Sampling) Continuous() bool {
	given, _ := s.ExtraBody.Get("stream_options")
	text, err := json.Marshal(given)
	var options struct {
		Continuous bool `json:"continuous_usage_stats"`
	}
	return err == nil && json.Unmarshal(text, &options) == nil && options.Continuous
}

// Body makes the bodies of requests to a model of a server.
func (s *Sampling) Body(of *Server, w *Workload, model string) request.Body {
	return request.Body{
		Model: model, Path: of.Endpoint, Store: w.Sessions.Answers == Stored, IgnoreEOS: s.IgnoreEOS, Logprobs: s.Logprobs,
		Extra: s.ExtraBody, UsageAlways: s.UsageAlways, PlainText: s.PlainText, Drop: s.Drop,
	}
}
