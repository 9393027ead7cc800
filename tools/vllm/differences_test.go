//go:build vllm

package vllm_test

import (
	"strconv"
	"strings"
	"testing"
)

// A difference is what vLLM's client and servebench make of an answer that they
// do not read the same, on purpose, as verdicts.
type difference struct{ vLLM, servebench string }

// differences are all such cases of testdata/golden/answers.json, and why. They
// are those of docs/vllm.md.
var differences = map[string]difference{
	// An answer without an end, neither [DONE] nor a finish reason: the server may have died.
	"chat-no-done": {"2", "truncated"}, "chat-no-blank-line-at-end": {"2", "truncated"}, "random-10": {"3", "truncated"},
	"random-22": {"1", "truncated"}, "random-26": {"19", "truncated"}, "random-42": {"17", "truncated"},
	"random-43": {"15", "truncated"}, "random-53": {"2", "truncated"},
	// An error after a token.
	"chat-error-after-token": {"1", "in-stream"}, "comp-error-later": {"1", "in-stream"},
	// Output under other names than content, reasoning and tool calls.
	"chat-only-reasoning-content": {never, "1"}, "chat-refusal": {never, "2"},
	// Lines that end in CRLF, event: lines, and data: without a space, as in the standard for such streams.
	"chat-crlf-pairs": {never, "2"}, "chat-event-line": {notJSON, "1"}, "chat-no-space": {notJSON, "1"},
	// Responses of calls or a refusal alone, with CRLF, and with a last event that no blank line ends, or a late one.
	"resp-function-arguments": {noDelta, "6"}, "resp-refusal": {noDelta, "2"}, "resp-crlf": {noDelta, "1"},
	"resp-tail-without-blank": {unended, "1"}, "resp-tail-late-blank": {"1", "1"},
	// A connection cut once the answer was whole.
	"random-16": {lost, "19"}, "random-40": {lost, "17"},
	"chat-cut-after-done": {lost, "1"}, "random-1": {lost, "16"}, "random-24": {lost, "2"},
	"random-29": {lost, "3"}, "random-39": {lost, "11"},
	// Output that comes more than a second after [DONE], as it does here, where scripts are slowed down.
	"chat-late-content": {"2", "1"},
}

// What vLLM's client says of failures, but for an HTTP status: its reason phrase,
// the exception that it met, or that there was no output.
const (
	never   = "Never received a valid chunk to calculate TTFT.This response will be marked as failed!"
	noDelta = "Never received a token delta to calculate TTFT.This response will be marked as failed!"
	unended = "Stream ended without a terminal event.This response will be marked as failed!"
	notJSON = "json.decoder.JSONDecodeError"
	lost    = "aiohttp.client_exceptions.ClientPayloadError"
	closed  = "aiohttp.client_exceptions.ServerDisconnectedError"
)

// classes are the failures here that are one of vLLM's there, which names fewer.
func classes(error string) []string {
	switch {
	case error == never, error == noDelta:
		return []string{"empty", "in-stream", "malformed"}
	case error == notJSON:
		return []string{"malformed"}
	case error == lost, error == closed, error == unended:
		return []string{"truncated"}
	case told(error):
		return []string{"in-stream"}
	}
	return []string{"status"}
}

// told says whether an error is what the server said of it, in JSON.
func told(error string) bool { return strings.HasPrefix(error, "{") }

// partial says whether vLLM's client keeps what it had of an answer that failed so. servebench keeps nothing.
func partial(error string) bool { return told(error) || error == unended }

// compareDifferences holds what both clients make of answers against the table.
func compareDifferences(t *testing.T, answers []answer, theirs, ours *results) {
	t.Helper()
	for i, a := range answers {
		their, _ := theirs.reading(t, i, a)
		our, _ := ours.reading(t, i, a)
		got := difference{their.verdict(), our.verdict()}
		if want := differences[a.Name]; got != want {
			t.Errorf("%s: vLLM and servebench make %q of it, want %q", a.Name, got, want)
		}
	}
}

// verdict is what a client made of an answer, in a word: how many tokens it has,
// or why it failed.
func (r reading) verdict() string {
	if r.Success {
		return strconv.Itoa(r.Output)
	}
	return r.Error
}
