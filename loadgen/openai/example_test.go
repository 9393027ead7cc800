package openai_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/sim"
)

// The models of a simulated server.
func Example() {
	simulated, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer simulated.Close()
	web := httptest.NewServer(simulated)
	defer web.Close()
	models, err := (&openai.Server{URL: web.URL}).Models(context.Background())
	fmt.Println(models[0].ID, err)
	// Output: stub-32000 <nil>
}
