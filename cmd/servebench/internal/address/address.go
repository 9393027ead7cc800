// Package address reads the address of a server as people write it.
//
// What people write is often not quite the URL that is needed: the scheme is missing, or
// the URL ends in /v1 because clients of OpenAI's API want it so. Read takes these for
// what they mean and leaves a note, which the user should see. What could mean several
// things is an error that says what to write. No text of this package shows a password:
// the caller's Show hides it.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// The paths of the two kinds of API.
const (
	completions = "/v1/completions"
	chat        = "/v1/chat/completions"
)

// A Server is where a server is.
type Server struct {
	URL   string   // base of all paths, without a slash at its end
	Query string   // goes with every call; without a question mark
	Notes []string // what was taken for something else
}

// A Reader reads addresses.
type Reader struct {
	Endpoint string              // path of the API, which the URL must not have, too
	Show     func(string) string // makes a URL fit to be shown
}

// URL reads the URL of a server. Errors do not name the flag.
func (r Reader) URL(text string) (*Server, error) {
	address, query, _ := strings.Cut(strings.TrimSpace(text), "?")
	if err := CheckQuery(query); err != nil {
		return nil, err
	}
	s := &Server{Query: query}
	if !strings.Contains(address, "://") {
		if scheme, _, _ := strings.Cut(address, ":"); strings.EqualFold(scheme, "http") ||
			strings.EqualFold(scheme, "https") {
			return nil, fmt.Errorf("%s: it must begin with %s://", pyjson.Quote(r.Show(text)), strings.ToLower(scheme))
		}
		address = "http://" + address
	}
	if several(address) {
		return nil, errors.New("it takes one URL: servebench sweep --base-url URL,URL loads one server after the other, " +
			"and --target NAME=URL --target NAME=URL loads them at the same time")
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.Unwrap(err) // which quotes no more than it complains about
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s: it must be http://HOST:PORT or https://HOST, with a path and a query if the server "+
			"has them", pyjson.Quote(r.Show(text)))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("port %s: it must be from 1 to 65535", port)
		}
	}
	s.URL = strings.TrimRight(address, "/")
	if err := r.trim(s); err != nil {
		return nil, err
	}
	if s.URL != strings.TrimRight(strings.TrimSpace(strings.SplitN(text, "?", 2)[0]), "/") {
		s.Notes = append(s.Notes, fmt.Sprintf("%s is taken as %s", r.Show(strings.SplitN(text, "?", 2)[0]), r.Show(s.URL)))
	}
	return s, nil
}

// several reports whether a text is URLs with commas between. A password may have a comma, too.
func several(address string) bool {
	_, host, _ := strings.Cut(address, "://")
	host = host[:strings.IndexAny(host+"/", "/")]
	return strings.Contains(host[strings.LastIndexByte(host, '@')+1:], ",") || strings.Contains(address, ",http://") ||
		strings.Contains(address, ",https://")
}

// trim takes off the end of the URL what the endpoint has.
func (r Reader) trim(s *Server) error {
	for _, path := range []string{chat, completions} {
		base, ends := strings.CutSuffix(s.URL, path)
		if !ends {
			continue
		}
		if path != r.Endpoint {
			backend := map[string]string{chat: "openai-chat", completions: "openai"}[path]
			if s.Query != "" {
				base += "?" + s.Query
			}
			return fmt.Errorf("it must end before %s: give --base-url %s --backend %s --endpoint %[1]s", path, r.Show(base),
				backend)
		}
		s.URL = base
		return nil
	}
	if base, ends := strings.CutSuffix(s.URL, r.Endpoint); ends && r.Endpoint != "" {
		s.URL = base
		return nil
	}
	// Servers with another API often have OpenAI's at /v1, too.
	if base, ends := strings.CutSuffix(s.URL, "/v1"); ends &&
		(strings.HasPrefix(r.Endpoint, "/v1/") || strings.HasPrefix(r.Endpoint, "/api/")) {
		s.URL = base
	}
	return nil
}

// CheckQuery refuses what cannot be the query of a URL.
func CheckQuery(query string) error {
	if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r == '#' || r == 0x7f }) {
		return errors.New("a query holds no space, line end or #: write them as %20, %0A and %23")
	}
	return nil
}

// Host makes the URL of a host and a port. A host with a port counts if chosen is false:
// nobody chose a port then. Errors name the flag.
func (r Reader) Host(host string, port int, chosen bool) (*Server, error) {
	s := &Server{}
	if name, digits, err := net.SplitHostPort(host); err == nil && name != "" && !chosen && !strings.Contains(host, "/") {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("argument --host: %s: what follows the colon must be a port, from 1 to 65535",
				pyjson.Quote(r.Show(host)))
		}
		s.Notes = []string{fmt.Sprintf("%s is taken as --host %s --port %d", host, name, n)}
		host, port = name, int(n)
	}
	name := strings.Trim(host, "[]")
	_, wrong := netip.ParseAddr(name)
	switch {
	case port < 1 || port > 65535:
		return nil, fmt.Errorf("argument --port: %d: it must be from 1 to 65535", port)
	case name == "" || name[0] == ':' && wrong != nil:
		return nil, fmt.Errorf("argument --host: %s: the host is missing: give --host HOST --port PORT",
			pyjson.Quote(r.Show(host)))
	case strings.Contains(name, "/"):
		return nil, fmt.Errorf("argument --host: %s: it must be a name or an address: give a URL as --base-url",
			pyjson.Quote(r.Show(host)))
	case strings.Count(name, ":") == 1:
		return nil, fmt.Errorf("argument --host: %s: --port %d says another port: give one of the two",
			pyjson.Quote(r.Show(host)), port)
	case strings.ContainsAny(name, ": @?#") && wrong != nil:
		return nil, fmt.Errorf("argument --host: %s: it must be a name or an address", pyjson.Quote(r.Show(host)))
	}
	// of a zone, see RFC 6874
	s.URL = "http://" + net.JoinHostPort(strings.Replace(name, "%", "%25", 1), strconv.Itoa(port))
	return s, nil
}
