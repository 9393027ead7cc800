package main

import (
	"net/url"
	"regexp"
	"strings"

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
