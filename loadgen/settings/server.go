// Package settings is what a run is asked for: which server, which workload, when, what to watch, what to report.
//
// Settings are structs whose zero value works, and methods that say what several of them mean together. Package loadgen
// has their types as parts of its Plan. Nothing here sends, opens or measures anything.
package settings

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

// Server says where requests go, and in which protocol.
type Server struct {
	// Backend is the name of one of api.All; empty means openai.
	Backend string

	// BaseURL is http://host:port, with a path if the server has one, and without a slash at its
	// end.
	BaseURL string

	// Query goes with every call, without its question mark; empty for no query.
	Query string

	// Endpoint is the path of the API, with a slash in front; empty for the Backend's default.
	Endpoint string

	// Asked is the query of the endpoint only, without its question mark.
	Asked string

	// Headers are sent with every request. No two have the same name.
	Headers []metrics.KV

	// SessionHeader names the header with the id of the session, for sessions of several turns; empty
	// for X-Session-ID.
	SessionHeader string

	// Trace sends the id of each request as W3C trace context, too, so that the server's spans have
	// it; see docs/waterfall.md.
	Trace bool

	Transport Transport

	// Handler is a server in this process, reached through memory; nil for a server at BaseURL. A
	// run with a Handler waits by package time, so a testing/synctest bubble can hold it. Its
	// Summaries have no Evidence, because the evidence would include the server.
	Handler http.Handler

	// Environment is what the caller gave the server's process, as NAME=VALUE; nil if the caller has not
	// started it.
	Environment []string

	// Dial, if set, opens connections instead of dialing the URL's host by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Socket is the path of a Unix socket to connect to; empty for the URL's host.
	Socket string

	// Start is the start of the server, if the caller knows it: its ID, By and Began count. Nil means
	// that the run finds out what it can.
	Start *metrics.ServerStart

	// Model is the model's name; empty for the first model that the server lists.
	Model string

	// ServedName is the model's name in requests; empty for Model.
	ServedName string

	// APIKey is sent as a bearer token; empty for none.
	APIKey string

	// Secrets are masked in everything that the run shows.
	Secrets redact.Secrets

	// Tokenizer is a file, a folder, a name in the Hugging Face cache, "server" to ask the server,
	// or stub-N for N made-up words. If it is empty, the run tries the model's tokenizer in the
	// cache, then the server's, then none.
	Tokenizer string

	// SkipTokenizer uses no tokenizer: the server counts the lengths.
	SkipTokenizer bool
}

// Transport says how bytes travel to a Server.
type Transport struct {
	// Insecure skips the verification of TLS certificates.
	Insecure bool

	TLS   wire.CredentialFiles
	HTTP2 bool

	// NetHTTP leaves HTTP/1.1 to package net/http; see wire.Connections.
	NetHTTP bool
}

// URL is where requests go.
func (s *Server) URL() string {
	url := s.BaseURL + s.Endpoint
	if query := strings.Trim(s.Query+"&"+s.Asked, "&"); query != "" {
		url += "?" + query
	}
	return url
}

// AllSecrets returns the given secrets, the key and the values of headers.
func (s *Server) AllSecrets() redact.Secrets {
	all := s.Secrets.Clone()
	if all.Add(s.APIKey); s.APIKey != "" && len(s.APIKey) < redact.Least {
		all.Add("Bearer " + s.APIKey)
	}
	for _, h := range s.Headers {
		all.AddHeader(h.Key, h.Value)
	}
	return all
}

// API is the API at the server; nil if Backend names none.
func (s *Server) API() *api.API { return api.Find(s.Backend) }

// Pooling reports whether the backend's answers are numbers instead of text.
func (s *Server) Pooling() bool {
	api := s.API()
	return api != nil && api.Pooling
}

// Messages reports whether the backend takes messages and text, but no token ids.
func (s *Server) Messages() bool { return s.API().Messages }
