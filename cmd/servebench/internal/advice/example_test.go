package advice_test

import (
	"fmt"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/loadgen"
)

func Example() {
	a := advice.Adviser{Plan: &loadgen.Plan{Server: loadgen.Server{Backend: "openai", BaseURL: "http://localhost:8000"}}}
	fmt.Println(a.About("401 Unauthorized: no key"))
	// Output: OPENAI_API_KEY is not set: set it to the server's key, or give another header as --header NAME=VALUE
}
