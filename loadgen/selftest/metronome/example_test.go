package metronome_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// A client that asks for three events and looks at what their texts tell.
func Example() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	server := &metronome.Server{ITL: time.Millisecond}
	go server.Serve(ctx, listener)

	reply, err := http.Post("http://"+listener.Addr().String(), "application/json", strings.NewReader(`{"max_tokens": 3}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reply.Body.Close()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		_, text, ok := strings.Cut(lines.Text(), `"text":"`)
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, `"`)
		truth, err := metronome.ParseTruth([]byte(text))
		fmt.Println("written after the request arrived:", truth.Written > truth.Arrived, err)
	}
	// Output:
	// written after the request arrived: true <nil>
	// written after the request arrived: true <nil>
	// written after the request arrived: true <nil>
}
