// Package advice says what can be done about failures of a run, in the words of the command line.
//
// Package loadgen reports failures, and knows no flag. Spelling gives it the flags of the settings that it names. An
// Adviser reads the messages of failures, as servers and proxies write them, against the plan that made them, and names
// the flags that help.
package advice

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// An Adviser says what can be done about failures of a run by its plan. It names settings
// by their flags of servebench run.
type Adviser struct {
	Plan *loadgen.Plan

	// TokenIDs says that prompts were sent as token ids.
	TokenIDs bool
}

// Unreachable is what can be done where a run cannot begin, "" where that is not known.
func (a *Adviser) Unreachable(lost *loadgen.UnreachableError) string {
	f, ok := errors.AsType[*record.Failure](lost.Err)
	if !ok {
		return "the reply is not one of OpenAI's API: check --base-url, and give --model if the server has no list of models"
	}
	message := f.Error()
	if strings.Contains(lost.Error(), twice) {
		message += " " + twice
	}
	if advice := first(message, a.adviseURL, a.adviseTLS, a.adviseKey, a.adviseProtocol); advice != "" {
		return advice
	}
	switch {
	case f.Class == record.DNS:
		return "check the host in --base-url"
	case f.Status == http.StatusNotFound && a.Plan.Server.Model == "":
		return "check --base-url, and give --model if the server has no list of models"
	case a.Plan.Traffic.ReadyCheck > 0:
		return ""
	case f.Class == record.Refused:
		return "is the server up, at this address? --ready-check-timeout-sec 600 waits for one that is starting, and " +
			"servebench sim is one to try"
	case loadgen.IsComing(f):
		return "--ready-check-timeout-sec 600 waits for a server that is starting"
	}
	return ""
}

// KeyVariable is the environment variable that has the API key, as for vLLM's client.
const KeyVariable = "OPENAI_API_KEY"

// twice is in a URL whose base ends as its endpoint begins.
const twice = "/v1/v1/"

// About is what can be done about a failure by its message, "" where that is not known.
// What the server said comes first, since one status has many causes.
func (a *Adviser) About(message string) string {
	return first(message, a.adviseURL, a.adviseTLS, a.adviseKey, a.adviseProtocol, a.adviseBackend, a.adviseLength,
		a.adviseIDs, a.adviseBody)
}

// first is the first advice of causes on a message, "" if none has any.
func first(message string, causes ...func(string) string) string {
	for _, cause := range causes {
		if advice := cause(message); advice != "" {
			return advice
		}
	}
	return ""
}

// On is the advice on the failures of a run, each once.
func (a *Adviser) On(s *metrics.Summary) []string {
	var all []string
	for _, class := range record.Classes {
		if f := failures.Of(s).Classes[class]; f != nil {
			message, _ := f.Messages.Commonest()
			if advice := a.About(message); advice != "" && !slices.Contains(all, advice) {
				all = append(all, advice)
			}
		}
	}
	return all
}

func (a *Adviser) adviseURL(message string) string {
	base, ends := strings.CutSuffix(a.Plan.Server.BaseURL, "/v1")
	if !ends || !strings.Contains(message, twice) {
		return ""
	}
	return fmt.Sprintf("the base URL ends in /v1, which other paths begin with: give --base-url %s --endpoint /v1%s",
		base, a.Plan.Server.Endpoint)
}

func (a *Adviser) adviseTLS(message string) string {
	switch {
	case strings.Contains(message, "tls: failed to verify certificate") && !a.Plan.Server.Transport.Insecure:
		return "name a file with the certificate of its authority in --ca-cert or SSL_CERT_FILE, " +
			"or give the host the name that the certificate is for; --insecure, as a last resort, verifies nothing"
	case strings.Contains(message, "remote error: tls: certificate required"):
		return "the server wants to see a certificate of the client's: give --client-cert and --client-key"
	case strings.Contains(message, "remote error: tls: ") && strings.Contains(message, "certificate") &&
		a.Plan.Server.Transport.TLS.Certificate != "":
		return "the server does not trust the certificate of --client-cert"
	}
	return ""
}

func (a *Adviser) adviseKey(message string) string {
	forbidden := strings.HasPrefix(message, "403 ") // which has other causes, too
	switch {
	case !strings.HasPrefix(message, "401 ") && !forbidden:
		return ""
	case slices.ContainsFunc(a.Plan.Server.Headers, func(kv metrics.KV) bool {
		return strings.EqualFold(kv.Key, "Authorization")
	}):
		return "check the Authorization header, or the name and password in the URL"
	case a.Plan.Server.APIKey == "" && forbidden:
		return "if the server wants a key, set " + KeyVariable + ", or give the header that it wants as --header NAME=VALUE"
	case a.Plan.Server.APIKey == "":
		return KeyVariable + " is not set: set it to the server's key, or give another header as --header NAME=VALUE"
	}
	return "check the key in " + KeyVariable
}

// adviseLength is about requests that are longer than the model allows.
func (a *Adviser) adviseLength(message string) string {
	if text := strings.ToLower(message); !refusal.MatchString(text) || !strings.Contains(text, "context length") &&
		!strings.Contains(text, "context size") {
		return ""
	}
	const long = "prompt and answer are too long for the model: "
	switch d := &a.Plan.Workload; {
	case d.Settings.MultiTurn.On || d.Has(kinds.OwnAnswers):
		return "a session is too long for the model: --max-model-len ends sessions before such a turn"
	case d.Shorter() != "":
		return long + d.Shorter()
	case d.Has(kinds.OutputFlags):
		return long + "lower --output-len, or take shorter prompts"
	}
	return long + "take shorter prompts"
}

func (a *Adviser) adviseProtocol(message string) string {
	switch {
	case !a.Plan.Server.Transport.HTTP2 && strings.Contains(message, "the server speaks only HTTP/2"):
		return "give --http2"
	case a.Plan.Server.Transport.HTTP2 && (strings.HasSuffix(message, "not HTTP/2") ||
		strings.Contains(message, "http2: client conn could not be established")):
		return "does the server speak HTTP/2? If not, leave --http2 away"
	case a.Plan.Server.Transport.HTTP2 && strings.Contains(message, "over HTTP/2, without processing it"):
		return "the server takes too few requests on a connection: lower --max-concurrency, or leave out --http2, so that " +
			"each request in flight has a connection"
	}
	return ""
}

// The flags for the two kinds of API.
const (
	chatFlags        = "--backend openai-chat --endpoint /v1/chat/completions"
	completionsFlags = "--backend openai --endpoint /v1/completions"
)

// otherAPI are the flags for the other kind of API, completions for a chat and else a chat. They are empty
// if the plan's prompts do not go with it: a chat takes no token ids and one prompt in a request, and only
// a chat takes messages, tools and media.
func (a *Adviser) otherAPI() (flags, kind string) {
	d, isChat := &a.Plan.Workload, a.Plan.Server.API().Chat
	switch {
	case !isChat && (d.TokenIDs || d.Settings.BatchSize > 1):
		return "", "chat"
	case !isChat:
		return chatFlags, "chat"
	case d.MultimodalChat || d.Has(kinds.Rich):
		return "", "completions"
	}
	return completionsFlags, "completions"
}

// adviseBackend is about a server that has another kind of API than the one asked for.
func (a *Adviser) adviseBackend(message string) string {
	lacks := (strings.HasPrefix(message, "404 ") || strings.HasPrefix(message, "405 ")) &&
		!names(message, "model", "deployment")
	if api := a.Plan.Server.API(); !api.Usual {
		if !lacks {
			return ""
		}
		return fmt.Sprintf("--backend %s needs a server with an endpoint such as %s, and a model for it: has it one at "+
			"another path? Then give --endpoint", api.Name, api.Endpoint)
	}
	other, kind := a.otherAPI()
	lacking := map[string]string{"chat": "messages", "completions": "prompt"}[kind]
	then := "Then give " + other
	if other == "" {
		other, then = "other prompts, since these do not go with it", "Then these prompts do not go with it"
	}
	switch text := strings.ToLower(message); {
	case refusal.MatchString(text) && required().MatchString(text) && word(lacking).MatchString(text):
		return fmt.Sprintf("%s takes requests for %s: give %s", a.Plan.Server.Endpoint, kind, other)
	case lacks && a.Plan.Server.Endpoint != a.Plan.Server.API().Endpoint:
		return fmt.Sprintf("most servers have the API of --backend %s at --endpoint %s; has the server %s alone? %s",
			a.Plan.Server.Backend, a.Plan.Server.API().Endpoint, kind, then)
	case lacks:
		return fmt.Sprintf("has the server %s alone? %s", kind, then)
	case strings.HasPrefix(text, "never received a valid chunk") && !strings.Contains(a.Plan.Server.Endpoint, "/v1/"):
		return fmt.Sprintf("%s streams no chunks of OpenAI's API: give %s, or %s", a.Plan.Server.Endpoint, completionsFlags,
			chatFlags)
	}
	return ""
}

// names reports whether a message has one of the words, in whatever case.
func names(message string, words ...string) bool {
	text := strings.ToLower(message)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// refusal begins the message of a status that is about the request's body. Old servers
// of llama.cpp have 500 for it.
var refusal = regexp.MustCompile(`^(400|422|500) `)

// required is in a complaint about a member that is missing.
var required = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(is|field) required|required parameter|missing|must provide|must not be empty`)
})

// word finds a word in a text.
func word(text string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(text) + `\b`)
}

// wantsString is in a complaint about content that is a list of parts, or about a prompt
// that is one of token ids. Pydantic, Go, serde, Jinja and LiteLLM say it so.
var wantsString = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`valid string|of type string|expected a string|must be a string|nor a string|expected string|not "list"|not list`)
})

// adviseIDs is about a server that takes no prompts as token ids.
func (a *Adviser) adviseIDs(message string) string {
	text := strings.ToLower(message)
	switch {
	case !a.TokenIDs || !refusal.MatchString(text) || !word("prompt").MatchString(text) ||
		!wantsString().MatchString(text):
		return ""
	case a.Plan.Workload.TokenIDs:
		return "the server takes no token ids: leave --prompt-token-ids away"
	}
	return "the server takes no token ids: give --tokenizer with the model's folder, or with stub-32000 for made-up words"
}

// adviseBody is about members that a server does not take as they are.
func (a *Adviser) adviseBody(message string) string {
	if !refusal.MatchString(message) {
		return ""
	}
	var advice, drop []string
	for complaint := range strings.SplitSeq(message, ";") {
		text := strings.ToLower(complaint)
		content := strings.Contains(text, "content") || strings.Contains(text, "messages") ||
			strings.Contains(text, `not "list"`)
		if api := a.Plan.Server.API(); api.Chat && api.Usual && !a.Plan.Sampling.PlainText && content &&
			wantsString().MatchString(text) && advice == nil {
			advice = append(advice, "the server wants the content of messages as a string: give --chat-content string")
		}
		for _, name := range []string{"ignore_eos", "repetition_penalty", "logprobs", "stream_options"} {
			switch {
			case !a.adds(name) || !word(name).MatchString(text) || slices.Contains(drop, name):
			case name == "stream_options" && a.Plan.Sampling.UsageAlways:
				advice = append(advice, "the server takes no stream_options: run it without --continuous-usage-stats")
			default:
				drop = append(drop, name)
			}
		}
	}
	if drop != nil {
		advice = append(advice, "--drop-body "+strings.Join(append(drop, a.Plan.Sampling.Drop...), ",")+
			" leaves out what the server does not take")
	}
	return strings.Join(advice, "; ")
}

// adds says whether bodies have a member that nobody asked for.
func (a *Adviser) adds(name string) bool {
	if _, asked := a.Plan.Sampling.ExtraBody.Get(name); asked {
		return false
	}
	p := a.Plan
	text, err := p.Server.API().Encoder(p.Sampling.Body(&p.Server, &p.Workload, ""))(&dataset.Turn{}, "")
	if err != nil {
		return false
	}
	body, err := pyjson.Parse(string(text))
	object, _ := body.(pyjson.Object)
	_, has := object.Get(name)
	return err == nil && has
}
