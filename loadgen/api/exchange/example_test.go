package exchange_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/metrics/record"
)

// One streamed completion of a simulated server.
func Example() {
	simulated, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer simulated.Close()
	web := httptest.NewServer(simulated)
	defer web.Close()

	ctx := context.Background()
	body, err := (&request.Body{Form: completions.Form, Model: "stub-32000", IgnoreEOS: true}).Encode(&dataset.Turn{Prompt: "tok1 tok2 tok3", OutputLen: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint := &exchange.Endpoint{Protocol: completions.Protocol, URL: web.URL + "/v1/completions", Header: exchange.Headers("", nil)}
	var rec record.Record
	chunks := 0
	for _, err := range endpoint.Send(ctx, time.Now(), &engine.Request{Body: body}, &rec) {
		if err != nil {
			fmt.Println(err)
			return
		}
		chunks++
	}
	fmt.Println(rec.Tokens.In, "tokens in,", rec.Tokens.Out, "out, in chunks:", chunks > 0, rec.Answer.Finish)
	// Output: 3 tokens in, 4 out, in chunks: true length
}
