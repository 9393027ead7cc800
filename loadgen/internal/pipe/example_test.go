package pipe_test

import (
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/servebench/servebench/loadgen/internal/pipe"
)

// A server and its client, without a network between them.
func Example() {
	listener := pipe.Listen()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "hello from", r.Host)
	})}
	go server.Serve(listener)
	defer server.Close()

	client := http.Client{Transport: &http.Transport{DialContext: listener.Dial}}
	reply, err := client.Get("http://server.test/")
	if err != nil {
		log.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output: hello from server.test
}
