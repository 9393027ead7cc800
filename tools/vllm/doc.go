// Package vllm holds servebench against vLLM's own client and engine, as they
// are installed from PyPI: what both send, what both make of the same answers,
// and what the engine itself says. It has tests alone, under the build tag vllm;
// make vllm-oracle and make vllm-e2e install what they need and run them.
package vllm
