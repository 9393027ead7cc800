package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/address"
	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// serverFlags say where requests go, and by which API.
type serverFlags struct {
	*options
	host    string
	port    int
	headers []string

	transport string
}

func (g *serverFlags) define(f *argv.Flags) {
	s := &g.Plan.Server
	f.StringVar(&s.Backend, "backend", "openai",
		"`NAME` API to call; list shows them all with their endpoints and runs nothing")
	f.StringVar(&s.BaseURL, "base-url", "", "`URL` URL of the server, without /v1. It replaces --host and --port; its "+
		"query, such as ?api-version=2024-10-21, goes with every call")
	f.StringVar(&g.host, "host", "127.0.0.1", "`HOST` host of the server, if there is no --base-url")
	f.IntVar(&g.port, "port", 8000, "`PORT` port of the server, if there is no --base-url")
	f.StringVar(&s.Endpoint, "endpoint", "/v1/completions",
		"`PATH` path of the API below the URL, with its query if it has one. Without it, each backend has the path that "+
			"--backend list shows")
	f.ListVar(&g.headers, "header", argv.Many, "`KEY=VALUE` headers to send with each request. Values are never "+
		"recorded or shown")
	f.BoolVar(&s.Trace, "traceparent", false, "also send each request's id as W3C trace context. Spans of the server's "+
		"OpenTelemetry then have it")
	by := &s.Transport
	f.BoolVar(&by.Insecure, "insecure", false, "accept any TLS certificate")
	f.StringVar(&by.TLS.Authorities, "ca-cert", "", "`FILE` PEM file of the certificates to trust (default the system's)")
	f.StringVar(&by.TLS.Certificate, "client-cert", "",
		"`FILE` PEM file of the certificate that the server asks clients for")
	f.StringVar(&by.TLS.Key, "client-key", "", "`FILE` PEM file of the key of --client-cert (default the same file)")
	f.BoolVar(&by.HTTP2, "http2", false, "use HTTP/2. Streams then share connections, and the arrival of a chunk is "+
		"stamped after it is read, not by the kernel")
	f.StringVar(&g.transport, "transport", "auto",
		"`WHICH` code for HTTP/1.1. auto is servebench's, and Go's net/http through a proxy. net is always net/http, "+
			"which costs more CPU. Results say own or net/http")
	f.StringVar(&s.Socket, "unix-socket", "", "`PATH` Unix socket to connect to, instead of the URL's host")
	f.StringVar(&s.Model, "model", "", "`NAME` model to ask for (default the first that the server lists)")
	f.StringVar(&s.ServedName, "served-model-name", "", "`NAME` name of the model in requests (default --model)")
	f.StringVar(&s.Tokenizer, "tokenizer", "", "`PATH` tokenizer that makes and counts prompts (default the model's in "+
		"the Hugging Face cache, else the server's, else none). It may be a tokenizer.json, a model's folder, a model's "+
		"name in the cache, server for the server's own, or stub-32000 for 32000 made-up words. Nothing is downloaded")
	f.String("tokenizer-mode", "auto", "`MODE` no effect. Both modes read tokenizer.json")
	f.BoolVar(&s.SkipTokenizer, "skip-tokenizer-init", false,
		"use no tokenizer. Lengths are then what the server says, and the block has no output tokens, TTFT, TPOT or ITL, "+
			"as in vLLM's client")
	f.Bool("trust-remote-code", false, "no effect. servebench never runs a model's code")
	f.Choices("backend", append(api.Names(), listBackends)...)
	f.Unbuilt("backend", slices.DeleteFunc(slices.Clone(unbuiltBackends),
		func(name string) bool { return api.Find(name) != nil })...)
	f.Conceal("base-url", redact.URL)
	f.Conceal("endpoint", redact.Endpoint)
	f.Conceal("header", redact.Pair)
	f.OfferFiles("ca-cert", "pem", "crt")
	f.OfferFiles("client-cert", "pem", "crt")
	f.OfferFiles("client-key", "pem", "key")
	f.OfferFiles("unix-socket")
	f.Offer("base-url", "http://127.0.0.1:8000")
	f.Offer("endpoint", api.Endpoints()...)
	f.Offer("tokenizer", "server", "stub-32000")
	f.Choices("tokenizer-mode", "auto", "hf")
	f.Choices("transport", "auto", "net")
	f.Unbuilt("tokenizer-mode", "slow", "mistral", "custom", "deepseek_v32")
}

const insecureWarning = "--insecure: TLS certificates are not verified, so that anybody on the way can read the API " +
	"key and change the answers"

func (g *serverFlags) resolve(f *argv.Flags) error {
	s := &g.Plan.Server
	s.Transport.NetHTTP = g.transport == "net"
	if err := g.resolveEndpoint(f.Changed("endpoint")); err != nil {
		return err
	}
	if !f.Changed("endpoint") {
		f.Lookup("endpoint").DefValue = s.Endpoint
	}
	if err := g.resolveAddress(f); err != nil {
		return err
	}
	switch {
	case s.Transport.TLS.Key != "" && s.Transport.TLS.Certificate == "":
		return errors.New("argument --client-key: it is the key of a certificate: give --client-cert, too")
	case s.Transport.TLS.Authorities != "" && s.Transport.Insecure:
		return errors.New("argument --ca-cert: --insecure trusts any certificate: give one of the two")
	}
	for _, h := range g.headers {
		if !strings.Contains(h, "=") {
			which := "a word" // it may be a secret, for example the rest of one after a space
			if name, _, ok := strings.Cut(h, ":"); ok {
				which = pyjson.Quote(name)
			}
			return fmt.Errorf("argument --header: Invalid header format. Please use KEY=VALUE format. (%s has no =: write it "+
				"as --header Authorization='Bearer KEY')", which)
		}
	}
	if s.Transport.Insecure {
		g.Warnings = append(g.Warnings, insecureWarning)
	}
	var err error
	if s.Headers, err = pairs(g.headers); err != nil {
		return err
	}
	return g.resolveSecrets()
}

// resolveAddress makes the URL of the server.
func (g *serverFlags) resolveAddress(f *argv.Flags) error {
	s := &g.Plan.Server
	reader := address.Reader{Endpoint: s.Endpoint, Show: redact.URL}
	if !f.Changed("base-url") {
		at, err := reader.Host(g.host, g.port, f.Changed("port"))
		if err != nil {
			return err
		}
		s.BaseURL, g.Notes = at.URL, append(g.Notes, at.Notes...)
		return nil
	}
	at, err := reader.URL(s.BaseURL)
	if err != nil {
		return fmt.Errorf("argument --base-url: %w", err)
	}
	s.BaseURL, s.Query = at.URL, at.Query
	for _, note := range at.Notes {
		g.Notes = append(g.Notes, "--base-url "+note)
	}
	return nil
}

// listBackends is the --backend that shows the backends.
const listBackends = "list"

// resolveEndpoint checks that a given endpoint is of the backend, or else takes the backend's, and
// separates the query from its path.
func (g *serverFlags) resolveEndpoint(given bool) error {
	s := &g.Plan.Server
	api := api.Find(s.Backend)
	if api != nil && !given {
		s.Endpoint = api.Endpoint
	}
	path, query, _ := strings.Cut(s.Endpoint, "?")
	switch {
	case api == nil: // it is not the whole command line
		return fmt.Errorf("argument --backend: %s shows the backends and runs nothing: take one of them", s.Backend)
	case !api.Has(path):
		return fmt.Errorf("argument --endpoint: %s: it must end with %s: --backend %s needs --endpoint %s",
			pyjson.Quote(path), strings.Join(api.Suffixes, " or "), s.Backend, api.Endpoint)
	case !api.Messages && strings.HasSuffix(path, "chat/completions"): // vLLM's client sends it, too
		g.Warnings = append(g.Warnings, fmt.Sprintf("--backend %s sends prompts, but %s takes messages: give --backend "+
			"openai-chat, or --endpoint /v1/completions", s.Backend, path))
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	s.Endpoint, s.Asked = path, query
	if wrong := address.CheckQuery(query); wrong != nil {
		return fmt.Errorf("argument --endpoint: %w", wrong)
	}
	return nil
}

// pairs reads KEY=VALUE arguments. A later pair replaces an earlier one with the
// same key, in its place.
func pairs(args []string) ([]metrics.KV, error) {
	var kvs []metrics.KV
next:
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%s has no =", pyjson.Quote(arg))
		}
		kv := metrics.KV{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}
		for i := range kvs {
			if kvs[i].Key == kv.Key {
				kvs[i] = kv
				continue next
			}
		}
		kvs = append(kvs, kv)
	}
	return kvs, nil
}

// resolveSecrets takes the API key from the environment and credentials from the URL; the latter go
// into a header, as in HTTP clients.
func (g *serverFlags) resolveSecrets() error {
	s := &g.Plan.Server
	s.APIKey = os.Getenv(advice.KeyVariable)
	if strings.ContainsAny(s.APIKey, "\r\n\x00") {
		return fmt.Errorf("%s holds a line end, which no header can", advice.KeyVariable)
	}
	if u, err := url.Parse(s.BaseURL); err == nil && u.User != nil {
		s.Secrets.AddCredentials(s.BaseURL)
		authorization := func(kv metrics.KV) bool { return strings.EqualFold(kv.Key, "Authorization") }
		if !slices.ContainsFunc(s.Headers, authorization) {
			s.Headers = append(s.Headers, metrics.KV{Key: "Authorization", Value: "Basic " + redact.BasicAuth(u.User)})
		}
		u.User = nil
		s.BaseURL = u.String()
	}
	if s.APIKey != "" {
		s.Secrets.Add(s.APIKey)
		if len(s.APIKey) < redact.Least {
			s.Secrets.Add("Bearer " + s.APIKey)
		}
	}
	for _, h := range s.Headers {
		if h.Key == "" || strings.ContainsAny(h.Key, " \t\r\n:()<>@,;\"/[]?={}\\") ||
			strings.ContainsAny(h.Value, "\r\n\x00") {
			return fmt.Errorf("argument --header: %s: that name or its value cannot be sent", pyjson.Quote(h.Key))
		}
		s.Secrets.AddHeader(h.Key, h.Value)
	}
	for pair := range strings.SplitSeq(s.Query+"&"+s.Asked, "&") {
		if name, value, _ := strings.Cut(pair, "="); redact.IsCredential(name) {
			s.Secrets.Add(value)
			if plain, err := url.QueryUnescape(value); err == nil {
				s.Secrets.Add(plain)
			}
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		s.Secrets.AddCredentials(os.Getenv(name))
	}
	return nil
}
