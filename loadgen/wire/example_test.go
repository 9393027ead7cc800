package wire_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/evidence"
)

// Two requests over one connection. A Tally counts what was opened.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	defer server.Close()

	tally := new(wire.Tally)
	transport := wire.Connections{Tally: tally}.Transport()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for range 2 {
		reply, err := client.Get(server.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(reply.Body)
		reply.Body.Close()
		fmt.Println(string(text))
	}
	var e evidence.Evidence
	tally.Report(&e)
	fmt.Println(e.Connections.Opened, "connection")
	// Output:
	// hello
	// hello
	// 1 connection
}
