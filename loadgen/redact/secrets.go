// Package redact hides secrets in what a run shows.
//
// Secrets are known texts, such as the API key: Mask hides them wherever they stand in a message of a server. The
// functions hide what may be a secret by its place, such as a password in a URL.
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics/pyjson"
)

// Secrets are texts that are sent and never shown: the API key, the values of headers, the
// passwords of URLs, and keys in bodies. Each is there in all spellings that a server may quote in
// its error messages.
type Secrets struct {
	texts []string            // the longest first
	parts map[string]struct{} // all parts of partLength bytes of keys and passwords
}

// Least is the least length of a secret, in bytes. Shorter texts are too common to mask
// everywhere.
const Least = 4

// partLength is from how many bytes on a part of a key is masked.
const partLength = 8

// Mark replaces a secret.
const Mark = "<redacted>"

// Texts are the secrets in all spellings, the longest first. They are not the caller's to change.
func (s Secrets) Texts() []string { return s.texts }

// In reports whether a text has a whole secret.
func (s Secrets) In(text string) bool {
	return slices.ContainsFunc(s.texts, func(secret string) bool { return strings.Contains(text, secret) })
}

// MaskWhole hides whole secrets. It is for texts of models, where a part of a key may stand by chance.
func (s Secrets) MaskWhole(text string) string { return redacted(text, s.whole(text)) }

// Mask hides the secrets in a message, the parts of keys that have 8 bytes or more, and the start of
// a secret before an ellipsis.
func (s Secrets) Mask(text string) string {
	text = redacted(text, s.inPart(text, s.whole(text)))
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

// whole marks the bytes of a text that are of whole secrets; nil for none.
func (s Secrets) whole(text string) (hidden []bool) {
	for _, secret := range s.texts {
		for from := 0; ; {
			i := strings.Index(text[from:], secret)
			if i < 0 {
				break
			}
			from += i
			hidden = mark(hidden, text, from, from+len(secret))
			from += len(secret)
		}
	}
	return hidden
}

// inPart also marks parts of keys.
func (s Secrets) inPart(text string, hidden []bool) []bool {
	for i := 0; len(s.parts) > 0 && i+partLength <= len(text); i++ {
		if _, ok := s.parts[text[i:i+partLength]]; ok {
			hidden = mark(hidden, text, i, i+partLength)
		}
	}
	return hidden
}

func mark(hidden []bool, text string, from, to int) []bool {
	if hidden == nil {
		hidden = make([]bool, len(text))
	}
	for i := from; i < to; i++ {
		hidden[i] = true
	}
	return hidden
}

// redacted is a text with what is hidden replaced.
func redacted(text string, hidden []bool) string {
	if hidden == nil {
		return text
	}
	var shown strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			shown.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			shown.WriteString(Mark)
		}
	}
	return shown.String()
}

// maskEnd hides the start of a secret at the end of a text.
func (s Secrets) maskEnd(text string) string {
	for _, secret := range s.texts {
		for n := min(len(secret)-1, len(text)); n >= Least; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				return text[:len(text)-n] + Mark
			}
		}
	}
	return text
}

// Add adds a key or a password in all its spellings.
func (s *Secrets) Add(text string) {
	s.addWhole(text)
	for _, spelling := range append(spellings(text), base64Cores(text)...) {
		if len(spelling) <= partLength {
			continue
		}
		if s.parts == nil {
			s.parts = map[string]struct{}{}
		}
		for i := range len(spelling) - partLength + 1 {
			s.parts[spelling[i:i+partLength]] = struct{}{}
		}
	}
}

// addWhole adds a text of which parts may be shown.
func (s *Secrets) addWhole(text string) { s.join(append(spellings(text), base64Cores(text)...)) }

func (s *Secrets) join(texts []string) {
	for _, text := range texts {
		if len(text) >= Least && !slices.Contains(s.texts, text) {
			s.texts = append(s.texts, text)
		}
	}
	slices.SortStableFunc(s.texts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// Join adds other secrets.
func (s *Secrets) Join(more Secrets) {
	s.join(more.texts)
	if s.parts == nil && more.parts != nil {
		s.parts = map[string]struct{}{}
	}
	maps.Copy(s.parts, more.parts)
}

// Clone is a copy that shares nothing.
func (s Secrets) Clone() Secrets { return Secrets{slices.Clone(s.texts), maps.Clone(s.parts)} }

// AddHeader adds the value of a header, and what follows the scheme in a value like Bearer TOKEN. Of
// a value that is a key or a password by the header's name, parts are secret, too. A value that is too
// short for this is hidden next to the header's name.
func (s *Secrets) AddHeader(name, value string) {
	token := value
	if _, after, ok := strings.Cut(value, " "); ok {
		token = after
	}
	s.addWhole(value)
	if IsCredential(name) {
		s.Add(token)
	} else {
		s.addWhole(token)
	}
	if len(token) >= Least {
		return
	}
	for _, name := range []string{name, strings.ToLower(name), http.CanonicalHeaderKey(name)} {
		for _, between := range []string{"=", ":", ": ", `":"`, `": "`, `":["`, `": ["`, `': '`, `': ['`} {
			s.addWhole(name + between + value)
		}
	}
}

// AddMembers adds what is a key or a password in a JSON value, by the names of its members, at any depth,
// and the passwords of URLs.
func (s *Secrets) AddMembers(value any) {
	redactMembers(value, func(text string) string {
		if strings.Contains(text, "://") {
			s.AddCredentials(text)
		} else {
			s.Add(text)
		}
		return text
	})
}

// JSON hides keys and passwords in the text of a JSON value, by the names of their members, and
// passwords of URLs. It hides all of a text that is no JSON and may hold one.
func JSON(text string) string {
	value, err := pyjson.Parse(text)
	if err != nil {
		if keyMember().MatchString(text) || groupMember().MatchString(text) || strings.Contains(text, "://") {
			return Mark
		}
		return text
	}
	hidden := false
	value = redactMembers(value, func(text string) string {
		hidden = true
		if strings.Contains(text, "://") {
			return URL(text)
		}
		return Mark
	})
	if !hidden {
		return text
	}
	return string(pyjson.Append(nil, value))
}

// redactMembers is a JSON value with each text and number replaced that is a key or a password by the name
// of its member, and each URL with credentials. It changes nothing in place.
func redactMembers(value any, replace func(string) string) any {
	// The value of a member, or one of its list, may be secret itself, or all that is below it.
	var under func(value any, itself, below bool) any
	under = func(value any, itself, below bool) any {
		switch v := value.(type) {
		case pyjson.Object:
			other := slices.Clone(v)
			for i, m := range v {
				group := below || groupMember().MatchString(m.Key)
				other[i].Value = under(m.Value, group || isKey(m.Key), group)
			}
			return other
		case []any:
			other := slices.Clone(v)
			for i := range v {
				other[i] = under(v[i], itself, below)
			}
			return other
		case string:
			if u, err := url.Parse(v); itself || err == nil && u.User != nil {
				return replace(v)
			}
		case json.Number:
			if itself {
				return replace(v.String())
			}
		}
		return value
	}
	return under(value, false, false)
}

// What finds the name of a key or a password in a body by a word in it, of a member with several, and of a
// token or a key that is none. Names such as max_tokens and tokenizer are none.
var (
	keyMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?:^|[^a-zA-Z])(?i:(?:access|api|auth|client|private|secret|session)?_?(?:keys?|token|secrets?)|pass(?:word|wd|phrase)?s?|pwd|bearer|cookie|jwt|sig(?:nature)?)(?:$|[^a-zA-Z])` +
				`|[a-z](?:API)?(?:Keys?|Token|Secrets?|Passwords?|Passwd|Passphrase|Signature)(?:$|[^a-zA-Z])`)
	})
	groupMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i:(?:^|[^a-z])(?:auth|authorization|credentials?)(?:$|[^a-z]))|[a-z]Credentials?(?:$|[^a-zA-Z])`)
	})
	plainMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:bos|cache|eos|image|audio|mask|pad|sep|sort|stop|unk)_(?:key|token)s?(?:$|[^a-z])`)
	})
)

// isKey reports that a member of a body is a key or a password by its name.
func isKey(name string) bool {
	return keyMember().MatchString(name) && !plainMember().MatchString(name)
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
	all := []string{text, strings.Join(strings.Fields(text), " "), url.QueryEscape(text), url.PathEscape(text),
		html.EscapeString(text)}
	quotes := []string{strconv.Quote(text), strconv.QuoteToASCII(text), pyjson.Quote(text)}
	if escaped, err := json.Marshal(text); err == nil {
		quotes = append(quotes, string(escaped))
	}
	for _, q := range quotes {
		all = append(all, q[1:len(q)-1], strings.ReplaceAll(q[1:len(q)-1], "/", `\/`))
	}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		all = append(all, capitalEscape.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
		base64.RawURLEncoding} {
		all = append(all, alphabet.EncodeToString([]byte(text)))
	}
	return all
}

var capitalEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

// base64Cores are what is certain of the text in base64 wherever it stands in what is encoded, such as
// behind "Bearer ": the letters whose six bits are all of the text.
func base64Cores(text string) (cores []string) {
	for before := range 3 {
		padded := append(make([]byte, before), text...)
		first, end := (before*8+5)/6, len(padded)*8/6
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			cores = append(cores, alphabet.EncodeToString(padded)[min(first, end):end])
		}
	}
	return cores
}

// Pair keeps the key of KEY=VALUE.
func Pair(arg string) string {
	key, _, _ := strings.Cut(arg, "=")
	return key + "=" + Mark
}

// URL hides a password, a name without one (it may be a token), and values in the query that
// may be keys. It hides all of a text that is no URL and may hold a password.
func URL(text string) string {
	address, query, asked := strings.Cut(text, "?")
	scheme := ""
	if !strings.Contains(address, "://") {
		scheme = "http://"
	}
	u, err := url.Parse(scheme + address)
	switch {
	case err != nil && (scheme == "" || strings.Contains(address, "@")), scheme != "" && u != nil && u.User == nil &&
		strings.Contains(address, "@"):
		return Mark
	case err == nil && u.User != nil:
		hidden := Mark
		if _, set := u.User.Password(); set {
			hidden = url.User(u.User.Username()).String() + ":" + Mark
		}
		u.User = nil
		address = strings.TrimPrefix(strings.Replace(u.String(), "//", "//"+hidden+"@", 1), scheme)
	}
	if asked {
		address += "?" + redactQuery(query)
	}
	return address
}

// URLs is URL for URLs with commas between.
func URLs(text string) string {
	urls := strings.Split(text, ",")
	for i, one := range urls {
		urls[i] = URL(one)
	}
	return strings.Join(urls, ",")
}

// Endpoint hides values that may be keys in the query after a path.
func Endpoint(text string) string {
	path, query, asked := strings.Cut(text, "?")
	if asked {
		path += "?" + redactQuery(query)
	}
	return path
}

// redactQuery hides values that may be keys in a query.
func redactQuery(query string) string {
	if strings.Contains(query, "@") { // may be the rest of a password with a question mark
		return Mark
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok && IsCredential(name) {
			pairs[i] = Pair(pair)
		}
	}
	return strings.Join(pairs, "&")
}

// credentialName is part of the name of a key in a query.
var credentialName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)key|token|secret|sig|auth|pass|cred|code`)
})

// IsCredential reports whether a query parameter of that name may be a secret.
func IsCredential(name string) bool { return credentialName().MatchString(name) }
