package main

import (
	"errors"
	"fmt"
	"net"
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
			help: "server's URL without the endpoint; replaces --host and --port"},
		{name: "host", meta: "HOST", fallback: "127.0.0.1", set: into(&f.host, parseString),
			help: "server's host"},
		{name: "port", meta: "PORT", fallback: "8000", set: into(&f.port, parseInt),
			help: "server's port"},
		{name: "endpoint", meta: "PATH", fallback: "/v1/completions", set: into(&s.Endpoint, parseString),
			help: "path of the API; openai-chat needs /v1/chat/completions"},
		{name: "header", meta: "KEY=VALUE", args: many, list: &f.headers, conceal: redactPair,
			help: "headers to send with each request; values are never recorded"},
		{name: "insecure", args: none, set: switchTo(&s.Insecure, true),
			help: "do not verify TLS certificates"},
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
	suffix := "completions"
	if s.Backend == "openai-chat" {
		suffix = "chat/completions"
	}
	if !strings.HasSuffix(s.Endpoint, suffix) {
		return fmt.Errorf("argument --endpoint: %s: with --backend %s it must end with %s", quoted(s.Endpoint), s.Backend, suffix)
	}
	if !strings.HasPrefix(s.Endpoint, "/") {
		s.Endpoint = "/" + s.Endpoint
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

func (f *form) resolveURL() error {
	if f.baseURL == nil {
		if f.port < 1 || f.port > 65535 {
			return fmt.Errorf("argument --port: %d: it must be from 1 to 65535", f.port)
		}
		if strings.Contains(f.host, "/") {
			return fmt.Errorf("argument --host: %s: it must be a name or an address; --base-url takes a URL", quoted(f.host))
		}
		f.Server.BaseURL = "http://" + net.JoinHostPort(strings.Trim(f.host, "[]"), strconv.Itoa(f.port))
		return nil
	}
	u, err := url.Parse(*f.baseURL)
	if err != nil && strings.Contains(*f.baseURL, "://") {
		return fmt.Errorf("argument --base-url: %w", errors.Unwrap(err))
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		shown, _, _ := strings.Cut(*f.baseURL, "?")
		return fmt.Errorf("argument --base-url: %s: it must be http://host:port or https://host, with a path where the server has one",
			quoted(redactURL(shown)))
	}
	f.Server.BaseURL = strings.TrimRight(*f.baseURL, "/")
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

// redactPair keeps the key of KEY=VALUE.
func redactPair(arg string) string {
	key, _, _ := strings.Cut(arg, "=")
	return key + "=" + redacted
}

// redactURL hides a password, and a name without one, which may be a token; a text
// that is no URL is hidden whole.
func redactURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "" && strings.Contains(text, "@"):
		return redacted
	case u.User == nil:
		return text
	}
	if _, set := u.User.Password(); !set {
		u.User = url.User("xxxxx")
	}
	return u.Redacted()
}
