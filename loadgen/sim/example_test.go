package sim_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A server whose steps take 1 ms, and which refuses every second request. Any client of
// OpenAI's API can talk to it.
func Example() {
	list, err := faults.Parse("status=503")
	if err != nil {
		log.Fatal(err)
	}
	server, err := sim.New(sim.Config{
		Tokenizer: tokenizer.Stub{Size: 32000},
		Cost:      speed.Cost{Base: time.Millisecond},
		Faults:    faults.Plan{List: list, Every: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	web := httptest.NewServer(server)
	defer web.Close()

	config := openai.DefaultConfig("no key")
	config.BaseURL = web.URL + "/v1"
	client := openai.NewClientWithConfig(config)
	for range 2 {
		answer, err := client.CreateCompletion(context.Background(), openai.CompletionRequest{
			Model: "stub-32000", Prompt: "tok1 tok2 tok3", MaxTokens: 4,
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(answer.Usage.PromptTokens, "tokens in,", answer.Usage.CompletionTokens, "out:", answer.Choices[0].FinishReason)
	}
	// Output:
	// 3 tokens in, 4 out: length
	// error, status code: 503, status: 503 Service Unavailable, message: Service Unavailable (simulated)
}
