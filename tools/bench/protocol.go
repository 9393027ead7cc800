package main

import "fmt"

const (
	endpoint    = "/v1/completions"
	model       = "meta-llama/Llama-3.1-8B-Instruct"
	replyHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	eventFormat = `data: {"id":"cmpl-9b2c7a0e6d0f4f1e8a3f","object":"text_completion","created":1795176277,"model":"` + model +
		`","choices":[{"index":0,"text":"%s","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n\n"
)

// chunked is text as one chunk of a body in HTTP's chunked coding.
func chunked(text []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text) }

// requestBody asks for a stream of so many tokens.
func requestBody(tokens int) string {
	return fmt.Sprintf(`{"model":"%s","prompt":"p","max_tokens":%d,"stream":true,"stream_options":{"include_usage":true}}`, model, tokens)
}
