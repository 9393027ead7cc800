package http1_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/servebench/servebench/loadgen/wire/http1"
)

// A connection carries one request after the other.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	line := http1.New(conn)
	defer line.Close()
	for _, text := range []string{"one", "two"} {
		r, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(text))
		if err != nil {
			fmt.Println(err)
			return
		}
		reply, err := line.RoundTrip(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		said, err := io.ReadAll(reply.Body)
		fmt.Println(reply.Status, string(said), err, line.Available())
	}
	// Output:
	// 200 OK one <nil> 1
	// 200 OK two <nil> 1
}
