package sse_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/loadgen/wire"
)

// A stamped reader says when its bytes came; this one does not know.
type stamped struct{ io.Reader }

func (stamped) Arrival() wire.Arrival { return wire.Arrival{} }

func Example() {
	var events sse.Reader
	events.Reset(stamped{strings.NewReader("event: greeting\ndata: Hello,\ndata: world\n\n")}, new(sse.Buffers), sse.Rules{})
	for {
		e, err := events.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %q\n", e.Name, e.Data)
	}
	// Output:
	// greeting: "Hello,\nworld"
	// EOF
}
