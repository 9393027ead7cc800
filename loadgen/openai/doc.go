// Package openai speaks OpenAI's protocol, and what vLLM and its kin add to it.
//
// An Endpoint is an engine.Sender: it streams completions and chat completions. A
// Server makes the small calls: the list of models, the tokenizer, the metrics. A Body
// makes the bodies of requests, byte for byte as vLLM's client does.
//
// Most events of a stream differ from the one before in their text alone. So an event
// is first compared with the shape of the last one, then scanned for the few members
// that count, and only decoded by encoding/json where it is odd.
package openai
