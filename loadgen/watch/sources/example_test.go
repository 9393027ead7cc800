package sources_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/watch/sources"
	"github.com/servebench/servebench/loadgen/wire"
)

// A server without metrics is not sampled.
func Example() {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	server := sources.Server{
		Target: sources.Target{Watch: &settings.Watch{Server: true}, Server: new(settings.Server)},
		Calls:  &openai.Server{URL: web.URL},
		Apart:  func() *wire.Transport { return wire.Connections{}.Transport() },
		Say:    func(format string, args ...any) { fmt.Println(format) },
	}
	var set watch.Set
	fmt.Println(server.Open(context.Background(), &set), set.Has("Watch.Server"))
	// Output:
	// WARNING: %s: %v: it is not asked again
	// <nil> false
}
