package address_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/servebench/servebench/cmd/servebench/internal/address"
)

// What people write is taken for what they mean, and the note says so.
func Example() {
	r := address.Reader{Endpoint: "/v1/completions", Show: func(url string) string { return url }}
	for _, text := range []string{"http://gpu1:8000", "gpu1:8000", "http://gpu1:8000/v1/", "https://gateway/team?version=1"} {
		s, err := r.URL(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(s.URL, s.Query, s.Notes)
	}
	// Output:
	// http://gpu1:8000  []
	// http://gpu1:8000  [gpu1:8000 is taken as http://gpu1:8000]
	// http://gpu1:8000  [http://gpu1:8000/v1/ is taken as http://gpu1:8000]
	// https://gateway/team version=1 []
}

// reader hides passwords by letters.
func reader(endpoint string) address.Reader {
	return address.Reader{Endpoint: endpoint, Show: func(url string) string { return strings.ReplaceAll(url, "secret", "***") }}
}

func TestURLsAreTakenAsMeant(t *testing.T) {
	for _, row := range []struct{ text, endpoint, url, note string }{
		{"http://h:1/", "/v1/completions", "http://h:1", ""},
		{"localhost", "/v1/completions", "http://localhost", "localhost is taken as http://localhost"},
		{"[::1]:8000", "/v1/completions", "http://[::1]:8000", "[::1]:8000 is taken as http://[::1]:8000"},
		{"h:1/v1", "/v1/chat/completions", "http://h:1", "h:1/v1 is taken as http://h:1"},
		{"http://h:1/v1", "/completions", "http://h:1/v1", ""},
		{"http://h:1/v1", "/api/chat", "http://h:1", "http://h:1/v1 is taken as http://h:1"},
		{"http://h:1/api/chat", "/api/chat", "http://h:1", "http://h:1/api/chat is taken as http://h:1"},
		{"http://h/v1/completions", "/v1/completions", "http://h", "http://h/v1/completions is taken as http://h"},
		{"http://h/v1/chat/completions/", "/v1/chat/completions", "http://h", "http://h/v1/chat/completions/ is taken as http://h"},
		{"http://h/gateway/v1", "/v1/completions", "http://h/gateway", "http://h/gateway/v1 is taken as http://h/gateway"},
		{"me:secret@h:1", "/v1/completions", "http://me:secret@h:1", "me:***@h:1 is taken as http://me:***@h:1"},
		{"http://me:a,b@h/x,y", "/v1/completions", "http://me:a,b@h/x,y", ""},
		{"h?key=secret", "/v1/completions", "http://h", "h is taken as http://h"},
	} {
		s, err := reader(row.endpoint).URL(row.text)
		if err != nil || s.URL != row.url || strings.Join(s.Notes, "|") != row.note {
			t.Errorf("%s: %+v, %v", row.text, s, err)
		}
	}
}

func TestUnclearURLsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"htp://h":              `'htp://h': it must be http://HOST:PORT or https://HOST, with a path and a query if the server has them`,
		"http:/h":              `'http:/h': it must begin with http://`,
		"HTTPS:me:secret@h":    `'HTTPS:me:***@h': it must begin with https://`,
		"http://":              `'http://': it must be http://HOST:PORT or https://HOST, with a path and a query if the server has them`,
		"":                     `'': it must be http://HOST:PORT or https://HOST, with a path and a query if the server has them`,
		"http://h:80000":       "port 80000: it must be from 1 to 65535",
		"http://h:0":           "port 0: it must be from 1 to 65535",
		"http://h#x":           `'http://h#x': it must be http://HOST:PORT or https://HOST, with a path and a query if the server has them`,
		"http://h?a b":         "a query holds no space, line end or #: write them as %20, %0A and %23",
		"http://me:secret@h:x": `invalid port ":x" after host`,
		"http://h/v1/chat/completions?k=secret&v=1": "it must end before /v1/chat/completions: give --base-url http://h?k=***&v=1 --backend openai-chat --endpoint /v1/chat/completions",
		"http://a,http://b":                         "it takes one URL: servebench sweep --base-url URL,URL loads one server after the other, and --target NAME=URL --target NAME=URL loads them at the same time",
		"http://a/x,https://b":                      "it takes one URL: servebench sweep --base-url URL,URL loads one server after the other, and --target NAME=URL --target NAME=URL loads them at the same time",
		"me:secret@a:1,b:2":                         "it takes one URL: servebench sweep --base-url URL,URL loads one server after the other, and --target NAME=URL --target NAME=URL loads them at the same time",
		"http://h/v1/chat/completions":              "it must end before /v1/chat/completions: give --base-url http://h --backend openai-chat --endpoint /v1/chat/completions",
	} {
		if s, err := reader("/v1/completions").URL(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %+v", text, err, s)
		}
	}
}

func TestHostsMayHaveAPort(t *testing.T) {
	for _, row := range []struct {
		host      string
		port      int
		chosen    bool
		url, note string
	}{
		{"h", 8000, false, "http://h:8000", ""},
		{"h:9", 8000, false, "http://h:9", "h:9 is taken as --host h --port 9"},
		{"::1", 8000, false, "http://[::1]:8000", ""},
		{"fe80::1%eth0", 8000, false, "http://[fe80::1%25eth0]:8000", ""},
		{"[::1]", 8000, true, "http://[::1]:8000", ""},
		{"[::1]:9", 8000, false, "http://[::1]:9", "[::1]:9 is taken as --host ::1 --port 9"},
	} {
		s, err := reader("").Host(row.host, row.port, row.chosen)
		if err != nil || s.URL != row.url || strings.Join(s.Notes, "|") != row.note {
			t.Errorf("%s: %+v, %v", row.host, s, err)
		}
	}
	for _, row := range []struct {
		host   string
		port   int
		chosen bool
		want   string
	}{
		{"h:9", 8000, true, `argument --host: 'h:9': --port 8000 says another port: give one of the two`},
		{"h:x", 8000, false, `argument --host: 'h:x': what follows the colon must be a port, from 1 to 65535`},
		{"http://me:secret@h", 8000, false, `argument --host: 'http://me:***@h': it must be a name or an address: give a URL as --base-url`},
		{":18431", 8000, false, `argument --host: ':18431': the host is missing: give --host HOST --port PORT`},
		{"", 8000, false, `argument --host: '': the host is missing: give --host HOST --port PORT`},
		{"h", 0, true, "argument --port: 0: it must be from 1 to 65535"},
		{"a b", 1, true, `argument --host: 'a b': it must be a name or an address`},
	} {
		if s, err := reader("").Host(row.host, row.port, row.chosen); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, %+v", row.host, err, s)
		}
	}
}
