package loadgen

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// Secrets are texts that are sent and never shown: the API key, the values of headers and the
// passwords of URLs. Each is there in all spellings that a server may quote in its error messages.
// The longest come first.
type Secrets []string

// MinSecret is the least length of a secret, in bytes. Shorter texts are too common to mask
// everywhere.
const MinSecret = 4

// Redacted replaces a secret.
const Redacted = "<redacted>"

// Mask hides the secrets in a text, and the start of a secret before an ellipsis.
func (s Secrets) Mask(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, Redacted)
	}
	const ellipsis = "…"
	if !strings.Contains(text, ellipsis) {
		return text
	}
	parts := strings.Split(text, ellipsis)
	for i := range parts[:len(parts)-1] {
		parts[i] = s.maskEnd(parts[i])
	}
	return strings.Join(parts, ellipsis)
}

// maskEnd hides the start of a secret at the end of a text.
func (s Secrets) maskEnd(text string) string {
	for _, secret := range s {
		for n := min(len(secret)-1, len(text)); n >= MinSecret; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				return text[:len(text)-n] + Redacted
			}
		}
	}
	return text
}

// Add adds a text in all its spellings.
func (s *Secrets) Add(text string) { s.Join(spellings(text)) }

// Join adds other secrets.
func (s *Secrets) Join(more Secrets) {
	for _, spelling := range more {
		if len(spelling) >= MinSecret && !slices.Contains(*s, spelling) {
			*s = append(*s, spelling)
		}
	}
	slices.SortStableFunc(*s, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// AddHeader adds the value of a header, and what follows the scheme in a value like Bearer TOKEN. A
// value that is too short for this is hidden next to the header's name.
func (s *Secrets) AddHeader(name, value string) {
	s.Add(value)
	token := value
	if _, after, ok := strings.Cut(value, " "); ok {
		s.Add(after)
		token = after
	}
	if len(token) >= MinSecret {
		return
	}
	for _, name := range []string{name, strings.ToLower(name), http.CanonicalHeaderKey(name)} {
		for _, between := range []string{"=", ":", ": ", `":"`, `": "`, `":["`, `": ["`, `': '`, `': ['`} {
			s.Add(name + between + value)
		}
	}
}

// AddCredentials adds what a URL has before the host: name, password, and the header that HTTP
// clients make of them. A name alone may be a token. It adds both also as written, since a URL may
// escape more than it must. A proxy's URL may lack its scheme.
func (s *Secrets) AddCredentials(link string) {
	scheme, after, ok := strings.Cut(link, "://")
	if !ok {
		scheme, after = "http", link
	}
	u, err := url.Parse(scheme + "://" + after)
	if err != nil {
		s.Add(after[:max(0, strings.LastIndexByte(after, '@'))])
		return
	}
	if u.User == nil {
		return
	}
	authority := after[:strings.IndexAny(after+"/", "/?#")]
	written := authority[:strings.LastIndexByte(authority, '@')]
	s.Add(BasicAuth(u.User))
	if password, set := u.User.Password(); set {
		_, asWritten, _ := strings.Cut(written, ":")
		s.Add(password)
		s.Add(asWritten)
	} else {
		s.Add(u.User.Username())
		s.Add(written)
	}
}

// BasicAuth is the header value that HTTP clients make of the credentials in a URL.
func BasicAuth(user *url.Userinfo) string {
	password, _ := user.Password()
	return base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
}

// spellings returns a text as it is, and as it looks in JSON, in Go's and Python's quotes, in a
// URL, in HTML, on one line and in base64.
func spellings(text string) []string {
	all := []string{text, strings.Join(strings.Fields(text), " "), url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text)}
	quotes := []string{strconv.Quote(text), strconv.QuoteToASCII(text), pyjson.Quote(text)}
	if escaped, err := json.Marshal(text); err == nil {
		quotes = append(quotes, string(escaped))
	}
	for _, q := range quotes {
		all = append(all, q[1:len(q)-1], strings.ReplaceAll(q[1:len(q)-1], "/", `\/`))
	}
	whole := text[:len(text)-len(text)%3] // the last letters depend on what follows
	return append(all, base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text)),
		base64.StdEncoding.EncodeToString([]byte(whole)), base64.URLEncoding.EncodeToString([]byte(whole)))
}

// RedactPair keeps the key of KEY=VALUE.
func RedactPair(arg string) string {
	key, _, _ := strings.Cut(arg, "=")
	return key + "=" + Redacted
}

// RedactURL hides a password, a name without one (it may be a token), and values in the query that
// may be keys. It hides all of a text that is no URL and may hold a password.
func RedactURL(text string) string {
	address, query, asked := strings.Cut(text, "?")
	scheme := ""
	if !strings.Contains(address, "://") {
		scheme = "http://"
	}
	u, err := url.Parse(scheme + address)
	switch {
	case err != nil && (scheme == "" || strings.Contains(address, "@")), scheme != "" && u != nil && u.User == nil && strings.Contains(address, "@"):
		return Redacted
	case err == nil && u.User != nil:
		hidden := Redacted
		if _, set := u.User.Password(); set {
			hidden = url.User(u.User.Username()).String() + ":" + Redacted
		}
		u.User = nil
		address = strings.TrimPrefix(strings.Replace(u.String(), "//", "//"+hidden+"@", 1), scheme)
	}
	if asked {
		address += "?" + redactQuery(query)
	}
	return address
}

// RedactURLs is RedactURL for URLs with commas between.
func RedactURLs(text string) string {
	urls := strings.Split(text, ",")
	for i, one := range urls {
		urls[i] = RedactURL(one)
	}
	return strings.Join(urls, ",")
}

// RedactEndpoint hides values that may be keys in the query after a path.
func RedactEndpoint(text string) string {
	path, query, asked := strings.Cut(text, "?")
	if asked {
		path += "?" + redactQuery(query)
	}
	return path
}

// redactQuery hides values that may be keys in a query.
func redactQuery(query string) string {
	if strings.Contains(query, "@") { // may be the rest of a password with a question mark
		return Redacted
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok && IsCredential(name) {
			pairs[i] = RedactPair(pair)
		}
	}
	return strings.Join(pairs, "&")
}

// credentialName is part of the name of a key in a query.
var credentialName = regexp.MustCompile(`(?i)key|token|secret|sig|auth|pass|cred|code`)

// IsCredential reports whether a query parameter of that name may be a secret.
func IsCredential(name string) bool { return credentialName.MatchString(name) }
