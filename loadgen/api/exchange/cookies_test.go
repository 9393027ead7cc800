package exchange_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
)

func TestCookiesAreReturnedAsByVLLMsClient(t *testing.T) {
	for _, test := range []struct {
		name, url, own string
		set            []string // by the first answer
		status         int
		want           string // in the second request
		names          []string
	}{
		{"none", "http://server.test/v1", "", nil, 200, "", nil},
		{"one", "http://server.test/v1", "", []string{"route=a1; Path=/; HttpOnly"}, 200, "route=a1", []string{"route"}},
		{"with a refusal", "http://server.test/v1", "", []string{"route=a1"}, 503, "route=a1", []string{"route"}},
		{"two", "http://server.test/v1", "", []string{"b=2", "a=1"}, 200, "a=1; b=2", []string{"a", "b"}},
		{"the user has one, too", "http://server.test/v1", "b=0; user=me", []string{"b=2"}, 200, "b=2; user=me", []string{"b"}},
		{"the user's alone", "http://server.test/v1", "b=0;user=me", nil, 200, "b=0;user=me", nil},
		{"localhost", "http://localhost:8000/v1", "", []string{"route=a1"}, 200, "route=a1", []string{"route"}},
		{"an address", "http://127.0.0.1:8000/v1", "", []string{"route=a1"}, 200, "", nil},
		{"an IPv6 address", "http://[::1]:8000/v1", "", []string{"route=a1"}, 200, "", nil},
		{"another path", "http://server.test/v1", "", []string{"route=a1; Path=/admin"}, 200, "", nil},
		{"another host", "http://server.test/v1", "", []string{"route=a1; Domain=other.test"}, 200, "", nil},
		{"for TLS", "http://server.test/v1", "", []string{"route=a1; Secure"}, 200, "", nil},
		{"for TLS, over TLS", "https://server.test/v1", "", []string{"route=a1; Secure"}, 200, "route=a1", []string{"route"}},
		{"taken back", "http://server.test/v1", "", []string{"route=a1", "route=; Max-Age=0"}, 200, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got [][]string
			tally := new(wire.Tally)
			o := &exchange.Endpoint{Protocol: completions.Protocol, URL: test.url, Tally: tally, Header: http.Header{}, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				got = append(got, r.Header["Cookie"])
				reply := &http.Response{StatusCode: test.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}
				if len(got) == 1 && test.set != nil {
					reply.Header["Set-Cookie"] = test.set
				}
				return reply, nil
			})}
			if test.own != "" {
				o.Header.Set("Cookie", test.own)
			}
			ask(t, o)
			ask(t, o)
			if first := strings.Join(got[0], "|"); first != test.own || len(got[1]) > 1 || strings.Join(got[1], "") != test.want {
				t.Errorf("cookies %q, want %q in the second request", got, test.want)
			}
			if e := reported(tally); !slices.Equal(e.Connections.Cookies, test.names) {
				t.Errorf("names %q, want %q", e.Connections.Cookies, test.names)
			}
			if o.Header.Get("Cookie") != test.own {
				t.Error("the endpoint's header has changed")
			}
		})
	}
}
