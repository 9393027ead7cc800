package main

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// secrets are the texts that are sent and never shown: the API key and the values
// of headers. A server may quote them in its error messages.
type secrets []string

// minSecret is the length under which a text is too common to be masked.
const minSecret = 4

// mask hides the secrets in a text.
func (s secrets) mask(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "<redacted>")
	}
	return text
}

func (s *secrets) add(text string) {
	if len(text) >= minSecret {
		*s = append(*s, text)
	}
}

// resolveSecrets takes the API key from the environment and credentials out of
// the URL, which go into a header as HTTP clients have it.
func (f *form) resolveSecrets() error {
	s := &f.Server
	s.APIKey = os.Getenv("OPENAI_API_KEY")
	if strings.ContainsAny(s.APIKey, "\r\n\x00") {
		return fmt.Errorf("OPENAI_API_KEY holds a line end, which no header can")
	}
	if u, err := url.Parse(s.BaseURL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		s.Secrets.add(password)
		authorization := func(kv metrics.KV) bool { return strings.EqualFold(kv.Key, "Authorization") }
		if !slices.ContainsFunc(s.Headers, authorization) {
			basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
			s.Headers = append(s.Headers, metrics.KV{Key: "Authorization", Value: "Basic " + basic})
		}
		u.User = nil
		s.BaseURL = u.String()
	}
	s.Secrets.add(s.APIKey)
	for _, h := range s.Headers {
		if h.Key == "" || strings.ContainsAny(h.Key, " \t\r\n:()<>@,;\"/[]?={}\\") || strings.ContainsAny(h.Value, "\r\n\x00") {
			return fmt.Errorf("argument --header: %s: that name or its value cannot be sent", quoted(h.Key))
		}
		s.Secrets.add(h.Value)
		if _, token, ok := strings.Cut(h.Value, " "); ok {
			s.Secrets.add(token) // Bearer TOKEN
		}
	}
	return nil
}
