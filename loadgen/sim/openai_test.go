package sim

import (
	"errors"
	"io"
	"net/http/httptest"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

var stub = tokenizer.Stub{Size: 32000}

// goOpenAI is an independent client of a server, over TCP and in real time.
func goOpenAI(t *testing.T) *openai.Client {
	t.Helper()
	server, err := New(Config{Tokenizer: stub, Cost: speed.Cost{Base: 1}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		server.Close()
		web.Close()
	})
	cfg := openai.DefaultConfig("no key")
	cfg.BaseURL = web.URL + "/v1"
	return openai.NewClientWithConfig(cfg)
}

func TestGoOpenAIReadsCompletions(t *testing.T) {
	stream, err := goOpenAI(t).CreateCompletionStream(t.Context(), openai.CompletionRequest{
		Model: "stub-32000", Prompt: "tok1 tok2 tok3", MaxTokens: 50, StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text string
	var usage *openai.Usage
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			text += c.Text
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
	}
	checkUsage(t, usage, 3, stub.Count(text, false))
}

func TestGoOpenAIReadsChats(t *testing.T) {
	stream, err := goOpenAI(t).CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{
		Model: "stub-32000", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "tok1 tok2"}},
		MaxCompletionTokens: 50, StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text string
	var usage *openai.Usage
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			text += c.Delta.Content
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
	}
	checkUsage(t, usage, 2+chatTemplateTokens, stub.Count(text, false))
}

func TestGoOpenAIReadsModelsAndErrors(t *testing.T) {
	client := goOpenAI(t)
	list, err := client.ListModels(t.Context())
	if err != nil || len(list.Models) != 1 || list.Models[0].ID != "stub-32000" {
		t.Errorf("models %+v, %v", list, err)
	}
	_, err = client.CreateCompletion(t.Context(), openai.CompletionRequest{Model: "nope", Prompt: "tok1"})
	var api *openai.APIError
	if !errors.As(err, &api) || api.HTTPStatusCode != 404 || api.Message != "The model `nope` does not exist." {
		t.Errorf("a missing model: %v", err)
	}
}

// checkUsage compares the server's counts with the client's own. The
// end-of-sequence token has no text.
func checkUsage(t *testing.T, usage *openai.Usage, prompt, words int) {
	t.Helper()
	if usage == nil {
		t.Fatal("no usage")
	}
	if usage.PromptTokens != prompt || words == 0 || usage.CompletionTokens-words > 1 || usage.CompletionTokens < words {
		t.Errorf("usage %+v for %d prompt tokens and %d words", usage, prompt, words)
	}
}

// Several inputs are one request.
func TestGoOpenAIReadsEmbeddings(t *testing.T) {
	answer, err := goOpenAI(t).CreateEmbeddings(t.Context(), openai.EmbeddingRequest{
		Model: "stub-32000", Input: []string{"tok1 tok2 tok3", "tok4"}, Dimensions: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Usage.PromptTokens != 4 || answer.Usage.TotalTokens != 4 || len(answer.Data) != 2 || answer.Data[1].Index != 1 || len(answer.Data[1].Embedding) != 8 {
		t.Errorf("%+v", answer)
	}
	_, err = goOpenAI(t).CreateEmbeddings(t.Context(), openai.EmbeddingRequest{Model: "another", Input: "tok1"})
	if said, ok := errors.AsType[*openai.APIError](err); !ok || said.HTTPStatusCode != 404 {
		t.Errorf("another model: %v", err)
	}
}
