package main

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"

	"github.com/servebench/servebench/loadgen"
)

// redactPair keeps the key of KEY=VALUE.
func redactPair(arg string) string {
	key, _, _ := strings.Cut(arg, "=")
	return key + "=" + loadgen.Redacted
}

// redactURL hides a password, a name without one, which may be a token, and what may
// be a key in the query; a text that is no URL and may hold a password is hidden whole.
func redactURL(text string) string {
	address, query, asked := strings.Cut(text, "?")
	scheme := ""
	if !strings.Contains(address, "://") {
		scheme = "http://"
	}
	u, err := url.Parse(scheme + address)
	switch {
	case err != nil && (scheme == "" || strings.Contains(address, "@")), scheme != "" && u != nil && u.User == nil && strings.Contains(address, "@"):
		return loadgen.Redacted
	case err == nil && u.User != nil:
		if _, set := u.User.Password(); !set {
			u.User = url.User("xxxxx")
		}
		address = strings.TrimPrefix(u.Redacted(), scheme)
	}
	if asked {
		address += "?" + redactQuery(query)
	}
	return address
}

// redactEndpoint hides what may be a key in the query behind a path.
func redactEndpoint(text string) string {
	path, query, asked := strings.Cut(text, "?")
	if asked {
		path += "?" + redactQuery(query)
	}
	return path
}

// redactQuery hides what may be a key in a query.
func redactQuery(query string) string {
	if strings.Contains(query, "@") { // it may be the rest of a password with a question mark
		return loadgen.Redacted
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok && isCredential(name) {
			pairs[i] = redactPair(pair)
		}
	}
	return strings.Join(pairs, "&")
}

// credentialName is a part of the name of what is a key in a query.
var credentialName = regexp.MustCompile(`(?i)key|token|secret|sig|auth|pass|cred|code`)

// isCredential says whether a member of a query may be one, by its name.
func isCredential(name string) bool { return credentialName.MatchString(name) }

// keyVariable is the environment variable that has the API key, as for vLLM's
// client.
const keyVariable = "OPENAI_API_KEY"

// resolveSecrets takes the API key from the environment and credentials out of
// the URL, which go into a header as HTTP clients have it.
func (g *serverFlags) resolveSecrets() error {
	s := &g.Server
	s.APIKey = os.Getenv(keyVariable)
	if strings.ContainsAny(s.APIKey, "\r\n\x00") {
		return fmt.Errorf("%s holds a line end, which no header can", keyVariable)
	}
	if u, err := url.Parse(s.BaseURL); err == nil && u.User != nil {
		s.Secrets.AddCredentials(s.BaseURL)
		authorization := func(kv metrics.KV) bool { return strings.EqualFold(kv.Key, "Authorization") }
		if !slices.ContainsFunc(s.Headers, authorization) {
			s.Headers = append(s.Headers, metrics.KV{Key: "Authorization", Value: "Basic " + loadgen.BasicAuth(u.User)})
		}
		u.User = nil
		s.BaseURL = u.String()
	}
	if s.APIKey != "" {
		s.Secrets.Add(s.APIKey)
		if len(s.APIKey) < loadgen.MinSecret {
			s.Secrets.Add("Bearer " + s.APIKey)
		}
	}
	for _, h := range s.Headers {
		if h.Key == "" || strings.ContainsAny(h.Key, " \t\r\n:()<>@,;\"/[]?={}\\") || strings.ContainsAny(h.Value, "\r\n\x00") {
			return fmt.Errorf("argument --header: %s: that name or its value cannot be sent", pyjson.Quote(h.Key))
		}
		s.Secrets.AddHeader(h.Key, h.Value)
	}
	for pair := range strings.SplitSeq(s.Query+"&"+s.Asked, "&") {
		if name, value, _ := strings.Cut(pair, "="); isCredential(name) {
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
