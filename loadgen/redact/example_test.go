package redact_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/redact"
)

// A server quotes the key of a request that it refuses.
func Example() {
	var s redact.Secrets
	s.Add("sk-0123456789")
	fmt.Println(s.Mask(`401 Unauthorized: no such key "sk-0123456789"`))
	fmt.Println(redact.URL("http://user:pass@127.0.0.1:8000/v1"))
	fmt.Println(redact.JSON(`{"api_key": "sk-0123456789", "top_k": 3}`))

	// Output:
	// 401 Unauthorized: no such key "<redacted>"
	// http://user:<redacted>@127.0.0.1:8000/v1
	// {"api_key": "<redacted>", "top_k": 3}
}
