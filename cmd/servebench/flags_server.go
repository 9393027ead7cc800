package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
)

func (f *form) serverFlags() []*flag {
	s := &f.Server
	return []*flag{
		{name: "backend", meta: "NAME", fallback: "openai", set: into(&s.Backend, parseString),
			choices: []string{"vllm", "openai", "openai-chat"}, unbuilt: unbuiltBackends,
			help: "protocol: vllm and openai are completions, openai-chat is chat"},
		{name: "base-url", meta: "URL", set: intoOptional(&f.baseURL, parseString), conceal: redactURL,
			help: "server's URL without the endpoint; replaces --host and --port. Its query, as ?api-version=2024-10-21, goes with every call"},
		{name: "host", meta: "HOST", fallback: "127.0.0.1", set: into(&f.host, parseString),
			help: "server's host"},
		{name: "port", meta: "PORT", fallback: "8000", set: into(&f.port, parseInt),
			help: "server's port"},
		{name: "endpoint", meta: "PATH", fallback: "/v1/completions", set: into(&s.Endpoint, parseString),
			conceal: redactEndpoint, help: "path of the API, and its query if it has one; openai-chat needs /v1/chat/completions"},
		{name: "header", meta: "KEY=VALUE", args: many, list: &f.headers, conceal: redactPair,
			help: "headers to send with each request; values are never recorded"},
		{name: "insecure", args: none, set: switchTo(&s.Insecure, true),
			help: "do not verify TLS certificates"},
		{name: "ca-cert", meta: "FILE", ours: true, set: into(&s.TLS.Authorities, parseString),
			help: "trust the certificates in this PEM file instead of the system's"},
		{name: "client-cert", meta: "FILE", ours: true, set: into(&s.TLS.Certificate, parseString),
			help: "show the server the certificate in this PEM file"},
		{name: "client-key", meta: "FILE", ours: true, set: into(&s.TLS.Key, parseString),
			help: "its private key (default in the same file)"},
		{name: "http2", args: none, ours: true, set: switchTo(&s.HTTP2, true),
			help: "speak HTTP/2: many streams share a connection, and arrivals are stamped once they have been read"},
		{name: "unix-socket", meta: "PATH", ours: true, set: into(&s.Socket, parseString),
			help: "connect to this socket instead of the URL's host"},
		{name: "model", meta: "NAME", set: into(&s.Model, parseString),
			help: "model's name (default the first of GET /v1/models)"},
		{name: "served-model-name", meta: "NAME", set: into(&s.ServedName, parseString),
			help: "model's name in requests (default --model)"},
		{name: "tokenizer", meta: "PATH", set: into(&s.Tokenizer, parseString),
			help: "a tokenizer.json, a model's folder or its name in the Hugging Face cache, server to ask the server, or stub-N of N words (default the model's in the cache, then the server's, then token ids alone)"},
		{name: "tokenizer-mode", meta: "MODE", fallback: "auto", set: nothing, choices: []string{"auto", "hf"},
			unbuilt: []string{"slow", "mistral", "custom", "deepseek_v32"},
			help:    "both read tokenizer.json"},
		{name: "skip-tokenizer-init", args: none, set: switchTo(&s.SkipTokenizer, true),
			help: "load no tokenizer: lengths are the server's, and the block leaves out token lines"},
		{name: "trust-remote-code", args: none, set: nothing,
			help: "no effect: servebench never runs a model's code"},
	}
}

const insecureWarning = "--insecure: TLS certificates are not verified, so that anybody on the way can read the API key and change the answers"

func (f *form) resolveServer() error {
	s := &f.Server
	if err := f.resolveURL(); err != nil {
		return err
	}
	if err := f.resolveEndpoint(); err != nil {
		return err
	}
	switch {
	case s.TLS.Key != "" && s.TLS.Certificate == "":
		return errors.New("argument --client-key: it is the key of a certificate: give --client-cert, too")
	case s.TLS.Authorities != "" && s.Insecure:
		return errors.New("argument --ca-cert: --insecure trusts any certificate: give one of the two")
	}
	for _, h := range f.headers {
		if !strings.Contains(h, "=") {
			which := "a word" // that may be a secret, as what follows a space in one
			if name, _, ok := strings.Cut(h, ":"); ok {
				which = quoted(name)
			}
			return fmt.Errorf("argument --header: Invalid header format. Please use KEY=VALUE format. (%s has no =)", which)
		}
	}
	if s.Insecure {
		f.Warnings = append(f.Warnings, insecureWarning)
	}
	var err error
	s.Headers, err = pairs(f.headers)
	return err
}

// resolveEndpoint takes the query off the endpoint's path.
func (f *form) resolveEndpoint() error {
	s := &f.Server
	path, query, _ := strings.Cut(s.Endpoint, "?")
	suffix := "completions"
	if s.Backend == "openai-chat" {
		suffix = "chat/completions"
	}
	if !strings.HasSuffix(path, suffix) {
		return fmt.Errorf("argument --endpoint: %s: with --backend %s it must end with %s", quoted(path), s.Backend, suffix)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	s.Endpoint, s.Asked = path, query
	if wrong := checkQuery(query); wrong != nil {
		return fmt.Errorf("argument --endpoint: %w", wrong)
	}
	return nil
}

// checkQuery refuses what cannot be the query of a URL.
func checkQuery(query string) error {
	if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r == '#' || r == 0x7f }) {
		return errors.New("a query holds no space, line end or #: write them as %20, %0A and %23")
	}
	return nil
}

// url is where requests go.
func (s *serverOptions) url() string {
	url := s.BaseURL + s.Endpoint
	if query := strings.Trim(s.Query+"&"+s.Asked, "&"); query != "" {
		url += "?" + query
	}
	return url
}

func (f *form) resolveURL() error {
	if f.baseURL == nil {
		return f.resolveHost()
	}
	address, query, _ := strings.Cut(*f.baseURL, "?")
	if !strings.Contains(address, "://") {
		return fmt.Errorf("argument --base-url: %s: it needs http:// or https:// in front", quoted(redactURL(address)))
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("argument --base-url: %w", errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("argument --base-url: %s: it must be http://host:port or https://host, with a path and a query where the server has them",
			quoted(redactURL(address)))
	}
	if wrong := checkQuery(query); wrong != nil {
		return fmt.Errorf("argument --base-url: %w", wrong)
	}
	f.Server.BaseURL, f.Server.Query = strings.TrimRight(address, "/"), query
	return nil
}

// resolveHost makes the URL of --host and --port.
func (f *form) resolveHost() error {
	host := strings.Trim(f.host, "[]")
	_, wrong := netip.ParseAddr(host)
	switch name, port, _ := strings.Cut(host, ":"); {
	case f.port < 1 || f.port > 65535:
		return fmt.Errorf("argument --port: %d: it must be from 1 to 65535", f.port)
	case strings.Contains(host, "/"):
		return fmt.Errorf("argument --host: %s: it must be a name or an address; --base-url takes a URL", quoted(f.host))
	case strings.Count(host, ":") == 1:
		return fmt.Errorf("argument --host: %s: the port has a flag of its own: give --host %s --port %s", quoted(f.host), name, port)
	case strings.ContainsAny(host, ": @?#") && wrong != nil:
		return fmt.Errorf("argument --host: %s: it must be a name or an address", quoted(f.host))
	}
	f.Server.BaseURL = "http://" + net.JoinHostPort(host, strconv.Itoa(f.port))
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
			return nil, fmt.Errorf("%s has no =", quoted(arg))
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
