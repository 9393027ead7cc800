// Package vllm compares servebench with vLLM's client and engine, as installed from PyPI: what both
// send, how both read the same answers, and what the engine itself reports. It only has tests,
// under the build tag vllm; make vllm-oracle and make vllm-e2e install what they need and run them.
package vllm
