package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/lora"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/metrics/pyjson"
)

// samplingFlags say what to ask of the model, apart from the prompt.
type samplingFlags struct {
	*options
	extraBody  pyjson.Object
	topP       *float64
	topK       *int
	minP       *float64
	frequency  *float64
	presence   *float64
	repetition *float64
}

func (g *samplingFlags) define(f *argv.Flags) {
	s := &g.Plan.Sampling
	f.Var(argv.Optional(&s.Temperature, argv.ParseFloat), "temperature",
		"`T` sampling temperature; 0 is greedy (default the server's)")
	f.Var(argv.Optional(&g.topP, argv.ParseFloat), "top-p",
		"`P` keep the likeliest tokens whose probabilities add up to P (default the server's)")
	f.Var(argv.Optional(&g.topK, argv.ParseInt), "top-k", "`K` keep the K likeliest tokens (default the server's)")
	f.Var(argv.Optional(&g.minP, argv.ParseFloat), "min-p",
		"`P` keep tokens with at least P times the probability of the likeliest (default the server's)")
	f.Var(argv.Optional(&g.frequency, argv.ParseFloat), "frequency-penalty",
		"`X` penalty for a token, times the number of its occurrences (default the server's)")
	f.Var(argv.Optional(&g.presence, argv.ParseFloat), "presence-penalty",
		"`X` penalty for a token that has occurred (default the server's)")
	f.Var(argv.Optional(&g.repetition, argv.ParseFloat), "repetition-penalty",
		"`X` penalty for repeating prompt or output (default 1.0 for completions, the server's for chat)")
	f.Var(argv.Optional(&s.Logprobs, argv.ParseInt), "logprobs",
		"`N` log probabilities to ask for per token, for completions (default none)")
	f.BoolVar(&s.IgnoreEOS, "ignore-eos", false,
		"let the model write to the full output length. Always on for random, traces of lengths and sessions")
	f.Var(argv.Parsed(&g.extraBody, "", parseMembers), "extra-body",
		"`JSON` members to set in every body; they replace what other flags set. Also as --extra-body.a.b VALUE")
	f.Var(argv.Parsed(&s.Drop, "", parseNames), "drop-body",
		"`NAMES` members to leave out of every body, with commas between. For servers that refuse what they do not know, "+
			"such as ignore_eos")
	f.Var(argv.Parsed(&s.PlainText, "", isPlainText), "chat-content",
		"`KIND` send the text of chat messages as a list of parts, as vLLM's client does, or as a string (default parts)")
	f.BoolVar(&s.UsageAlways, "continuous-usage-stats", false,
		"ask for the token count with every chunk. Chunks of several tokens are then counted right, and all chunks are "+
			"longer")
	f.Bool("use-beam-search", false, "no effect, as in vllm bench serve")
	f.Conceal("extra-body", redact.JSON)
	f.OfferList("drop-body", api.Optional()...)
	f.Choices("chat-content", "parts", "string")
}

func (g *samplingFlags) resolve(*argv.Flags) error {
	s := &g.Plan.Sampling
	if api := g.Plan.Server.API(); api.Stops {
		if s.IgnoreEOS {
			return fmt.Errorf("argument --ignore-eos: the API of --backend %s has no such member", api.Name)
		}
		g.Notes = append(g.Notes, "answers end where the model ends them, and may have fewer tokens than asked for: the "+
			"API of --backend "+api.Name+" has no ignore_eos")
	}
	s.IgnoreEOS = s.IgnoresEOS(&g.Plan.Workload, &g.Plan.Server)
	// This is the order in which vLLM's client puts them into the body.
	var given pyjson.Object
	given = member(given, "top_p", g.topP)
	given = member(given, "top_k", g.topK)
	given = member(given, "min_p", g.minP)
	given = member(given, "temperature", s.Temperature)
	given = member(given, "frequency_penalty", g.frequency)
	given = member(given, "presence_penalty", g.presence)
	given = member(given, "repetition_penalty", g.repetition)
	given, err := g.taken(given)
	if err != nil {
		return err
	}
	s.ExtraBody = given.Merge(g.extraBody)
	g.Plan.Server.Secrets.AddMembers(g.extraBody)
	if api := g.Plan.Server.API(); s.UsageAlways && !api.Counts {
		return fmt.Errorf("argument --continuous-usage-stats: the API of --backend %s counts no tokens with each chunk",
			api.Name)
	}
	if g.Plan.Whole() && !g.Plan.Server.Pooling() {
		if err := g.resolveWhole(); err != nil {
			return err
		}
	}
	if g.Plan.Server.SkipTokenizer && !g.Plan.Whole() && !g.Plan.Server.Pooling() {
		g.Notes = append(g.Notes, "without a tokenizer the block has no output tokens, TTFT, TPOT or ITL, as in vLLM's "+
			"client: servebench report --html shows them")
	}
	return g.checkDropped()
}

// parseMembers reads members of a body. What may hold a key is not in the error.
func parseMembers(text string) (pyjson.Object, error) {
	members, err := argv.ParseObject(text)
	if err != nil && redact.JSON(text) != text {
		return nil, errors.New("it must be a JSON object; it is not shown here, since it may hold a key")
	}
	return members, err
}

// resolveWhole says what answers that are not streamed lack.
func (g *samplingFlags) resolveWhole() error {
	if api := g.Plan.Server.API(); !api.OneJSON {
		return fmt.Errorf("argument --extra-body: stream: servebench reads the answers of --backend %s only as streams",
			api.Name)
	}
	if g.Plan.Sampling.UsageAlways {
		return errors.New("argument --continuous-usage-stats: it asks for counts in a stream, and the answers are not " +
			"streamed")
	}
	g.Notes = append(g.Notes, "the answers are not streamed: there is E2EL, but no TTFT, TPOT or ITL")
	return nil
}

// taken are the members that the backend takes of the given ones. As in vLLM's client, forms take
// none, and an answer of numbers has no use for them.
func (g *samplingFlags) taken(given pyjson.Object) (pyjson.Object, error) {
	api := g.Plan.Server.API()
	if i := slices.IndexFunc(given, func(m pyjson.Member) bool {
		return !slices.Contains(api.Sampling, m.Key)
	}); api.Sampling != nil && i >= 0 {
		return nil, fmt.Errorf("argument --%s: the API of --backend %s has only %s: set what the server takes with "+
			"--extra-body",
			strings.ReplaceAll(given[i].Key, "_", "-"), api.Name, strings.Join(api.Sampling, ", "))
	}
	if len(given) == 0 || !api.Forms() && !api.Pooling {
		return given, nil
	}
	flag := "--" + strings.ReplaceAll(given[0].Key, "_", "-")
	if api.Forms() {
		return nil, fmt.Errorf("argument %s: --backend %s takes no sampling flags: set what the server takes with "+
			"--extra-body", flag, api.Name)
	}
	g.Warnings = append(g.Warnings, fmt.Sprintf("%s and other sampling flags have no effect: --backend %s makes no text",
		flag, api.Name))
	return nil, nil
}

// checkDropped refuses to leave out members that the load needs, and members that bodies never
// have.
func (g *samplingFlags) checkDropped() error {
	s := &g.Plan.Sampling
	for _, name := range s.Drop {
		_, extra := s.ExtraBody.Get(name)
		switch why := needed[name]; {
		case why != "":
			return fmt.Errorf("argument --drop-body: %s: %s", name, why)
		case name == "stream_options" && s.UsageAlways:
			return errors.New("argument --drop-body: stream_options: --continuous-usage-stats asks in it: give one of the two")
		case !extra && !slices.Contains(api.Optional(), name):
			return fmt.Errorf("argument --drop-body: %s: no body has it: bodies have %s, and what --extra-body sets",
				pyjson.Quote(name), strings.Join(api.Optional(), ", "))
		case name == "stream_options" && !g.Plan.Whole():
			g.Warnings = append(g.Warnings, "--drop-body stream_options: most servers then tell no token counts: a tokenizer "+
				"counts, or each answer is one token")
		}
	}
	return nil
}

// needed are members that a body must have, with the reason.
var needed = map[string]string{
	"model":     "the server would choose the model",
	"prompt":    "there would be nothing to answer",
	"messages":  "there would be nothing to answer",
	"input":     "there would be nothing to answer",
	"query":     "there would be nothing to rank by",
	"documents": "there would be nothing to rank",
}

// parseNames reads names with commas between.
func parseNames(text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, fmt.Errorf("%s: there must be a name on each side of a comma", pyjson.Quote(text))
		}
		names = append(names, name)
	}
	return names, nil
}

func isPlainText(kind string) (bool, error) { return kind == "string", nil }

// member appends a member if there is a value for it.
func member[T any](o pyjson.Object, key string, value *T) pyjson.Object {
	if value == nil {
		return o
	}
	return append(o, pyjson.Member{Key: key, Value: *value})
}

// adapterFlags say which LoRA adapters requests ask for.
type adapterFlags struct {
	*options
	names, weights []string
	assignment     string
	exponent       *float64
}

func (g *adapterFlags) define(f *argv.Flags) {
	f.ListVar(&g.names, "lora-modules", argv.Some,
		"`NAME` adapters to ask for in place of the model, with spaces or commas between. The server must have them")
	f.StringVar(&g.assignment, "lora-assignment", drawn,
		"`HOW` how to give each request an adapter: random draws one, round-robin takes the next. zipf draws the kth "+
			"1/k^S times as often as the first")
	f.Var(argv.Optional(&g.exponent, argv.ParseFloat), "lora-zipf-exponent",
		"`S` exponent of --lora-assignment zipf (default 1)")
	f.ListVar(&g.weights, "lora-weights", argv.Some,
		"`W` how often each of --lora-modules is drawn, in their order, as 8 4 1 (default all equally often)")
	f.Choices("lora-assignment", drawn, roundRobin, zipf)
}

// Ways to assign adapters, apart from random.
const (
	drawn      = "random"
	roundRobin = "round-robin"
	zipf       = "zipf"
)

func (g *adapterFlags) resolve(*argv.Flags) error {
	c := &g.Plan.Workload.Adapters
	c.Names, c.InTurn = listed(g.names), g.assignment == roundRobin
	switch {
	case c.Names == nil && g.weights != nil:
		return errors.New("argument --lora-weights: there are no --lora-modules to draw")
	case c.Names == nil && g.assignment == zipf:
		return errors.New("argument --lora-assignment: zipf: there are no --lora-modules to draw")
	case g.exponent != nil && g.assignment != zipf:
		return errors.New("argument --lora-zipf-exponent: it is for --lora-assignment zipf")
	case g.weights != nil && g.assignment != drawn:
		return fmt.Errorf("argument --lora-weights: they are for --lora-assignment random, not for %s", g.assignment)
	}
	for _, text := range listed(g.weights) {
		weight, err := argv.ParseFloat(text)
		if err != nil {
			return fmt.Errorf("argument --lora-weights: %w", err)
		}
		c.Weights = append(c.Weights, weight)
	}
	if g.assignment == zipf {
		exponent := 1.0
		if g.exponent != nil {
			exponent = *g.exponent
		}
		if !(exponent >= 0 && exponent <= 100) {
			return fmt.Errorf("argument --lora-zipf-exponent: %v: it must be from 0 to 100", exponent)
		}
		c.Weights = lora.Zipf(len(c.Names), exponent)
	}
	if err := c.Check(); err != nil {
		flag := "--lora-modules"
		if g.weights != nil {
			flag = "--lora-weights"
		}
		return fmt.Errorf("argument %s: %w", flag, err)
	}
	return nil
}

// listed are the items of a list that has commas between its items, too, as in a --target.
func listed(words []string) (items []string) {
	for _, word := range words {
		items = append(items, strings.Split(word, ",")...)
	}
	return items
}
