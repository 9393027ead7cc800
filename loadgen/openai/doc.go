// Package openai speaks OpenAI's protocol, with the additions of vLLM and similar servers, and reads
// the streams of Anthropic's.
//
// An Endpoint is an engine.Sender: it streams completions and chat completions. A Server makes the
// small calls: the list of models, the tokenizer, the metrics. A Body makes the bodies of requests,
// byte for byte as vLLM's client does.
//
// Most events of a stream differ from the previous event only in their text. So an event is first
// compared with the shape of the previous one, then scanned for the few members that count, and
// decoded by encoding/json only if both fail.
package openai
