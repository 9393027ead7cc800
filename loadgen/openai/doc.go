// Package openai makes the small calls to a server that speaks OpenAI's protocol, with the additions of vLLM,
// SGLang, llama.cpp and others: the list of models, the tokenizer, the version, the metrics, sleep and wake.
//
// The requests of a load are not among them: see package exchange.
package openai
