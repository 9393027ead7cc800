package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"

	"github.com/servebench/servebench/loadgen"
)

// resolveSecrets takes the API key from the environment and credentials out of
// the URL, which go into a header as HTTP clients have it.
func (g *serverFlags) resolveSecrets() error {
	s := &g.Server
	s.APIKey = os.Getenv(loadgen.KeyVariable)
	if strings.ContainsAny(s.APIKey, "\r\n\x00") {
		return fmt.Errorf("%s holds a line end, which no header can", loadgen.KeyVariable)
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
		if name, value, _ := strings.Cut(pair, "="); loadgen.IsCredential(name) {
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
