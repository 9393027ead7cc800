package draft

import (
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics/pyjson"
)

// Parameters are the arguments of `vllm bench sweep serve`: a server's command and a load's flags, each
// with combinations of parameters that replace flags. All combinations of both are run.
type Parameters struct {
	Serve []string // the words of the server's command
	Bench []Option // the flags of the load's command, each with one value
	After string   // a command after each run, for the shell; empty resets the caches of vLLM

	ServeParams []Combination // one without parameters runs the command as it is
	BenchParams []Combination

	// Links are pairs of a server's and a load's parameter. A server's combination has only the loads
	// for which the two are there and equal.
	Links [][2]string

	Runs    int    // of each combination
	Within  string // how long a server may take to start, as in the file of an experiment
	Warmups int    // requests before each run
}

// A Combination is parameters that go together. A member _benchmark_name is its name.
type Combination struct{ pyjson.Object }

// usualArm is the name of a server without parameters.
const usualArm = "server"

// nameKey is the member with the name of a combination.
const nameKey = "_benchmark_name"

// ReadCombinations reads a file of parameters as vLLM has it: a JSON list of objects, or an object of
// objects by their names.
func ReadCombinations(text string) ([]Combination, error) {
	v, err := pyjson.Parse(text)
	if err != nil {
		return nil, err
	}
	var all []Combination
	names := map[any]bool{}
	add := func(value any, name string) error {
		object, ok := value.(pyjson.Object)
		if !ok {
			return fmt.Errorf("combination %d is no object", len(all)+1)
		}
		if name != "" {
			object = append(pyjson.Object{{Key: nameKey, Value: name}}, object...)
		}
		if own, named := object.Get(nameKey); named {
			if names[fmt.Sprint(own)] {
				return fmt.Errorf("two combinations have the name %v", own)
			}
			names[fmt.Sprint(own)] = true
		}
		for _, m := range object {
			if m.Value == nil {
				return fmt.Errorf("combination %d: %s has no value", len(all)+1, m.Key)
			}
		}
		all = append(all, Combination{object})
		return nil
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := add(item, ""); err != nil {
				return nil, err
			}
		}
	case pyjson.Object:
		for _, m := range v {
			if err := add(m.Value, m.Key); err != nil {
				return nil, err
			}
		}
	default:
		return nil, errors.New("it must be a list of objects, or an object of objects by their names")
	}
	if all == nil {
		return nil, errors.New("it has no combination")
	}
	return all, nil
}

// params are the parameters without the name.
func (c Combination) params() pyjson.Object {
	return slices.DeleteFunc(slices.Clone(c.Object), func(m pyjson.Member) bool { return m.Key == nameKey })
}

// name is the combination's name, or else its parameters in words.
func (c Combination) name() string {
	if name, ok := c.Get(nameKey); ok {
		return fmt.Sprint(name)
	}
	var words []string
	for _, m := range c.Object {
		words = append(words, m.Key+"="+plainText(m.Value))
	}
	return strings.Join(words, "-")
}

// plainText is a value as a command line has it.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(pyjson.Append(nil, v))
}

// apply replaces flags of a command by the combination's parameters, and adds the others.
func (c Combination) apply(command []string) []string {
	words := slices.Clone(command)
	for _, m := range c.params() {
		replacement := flagWords(m)
		at := slices.IndexFunc(words, func(word string) bool {
			return strings.HasPrefix(word, "--") && spelling(word[2:]) == spelling(m.Key)
		})
		switch {
		case at < 0:
			words = append(words, replacement...)
		default:
			words = slices.Replace(words, at, min(at+len(replacement), len(words)), replacement...)
		}
	}
	return words
}

// spelling is the name of a flag with hyphens. After a dot it stays as it is.
func spelling(name string) string {
	own, rest, dotted := strings.Cut(name, ".")
	own = strings.ReplaceAll(own, "_", "-")
	if dotted {
		return own + "." + rest
	}
	return own
}

// flagWords are the words of a command line for a parameter.
func flagWords(m pyjson.Member) []string {
	name := spelling(m.Key)
	on, isSwitch := m.Value.(bool)
	switch {
	case isSwitch && strings.Contains(name, "."):
		return []string{fmt.Sprintf("--%s=%t", name, on)}
	case isSwitch && on:
		return []string{"--" + name}
	case isSwitch:
		return []string{"--no-" + name}
	}
	return []string{"--" + name, plainText(m.Value)}
}

// linked reports whether a load's combination belongs to a server's.
func (p *Parameters) linked(serve, bench Combination) bool {
	for _, link := range p.Links {
		a, ok := serve.Get(link[0])
		b, both := bench.Get(link[1])
		if !ok || !both || plainText(a) != plainText(b) {
			return false
		}
	}
	return true
}

// Document is the file of the experiment.
func (p *Parameters) Document() ([]byte, error) {
	root, load, arms := mapping(), mapping(), &yaml.Node{Kind: yaml.SequenceNode}
	put(root, "repeats", scalar(fmt.Sprint(p.Runs)))
	address := false // the load's command says where the server is
	for _, o := range p.Bench {
		address = address || slices.Contains([]string{"base-url", "host", "port"}, o.Flag)
		if o.Flag == "seed" {
			put(root, "seed", scalar(o.Values[0]))
			continue
		}
		value := list(o.Values)
		if !o.Words {
			value = scalar(o.Values[0])
		}
		put(load, o.Flag, value)
	}
	put(load, "percentile-metrics", scalar("ttft,tpot,itl,e2el"))
	if p.Warmups > 0 {
		put(load, "num-warmups", scalar(fmt.Sprint(p.Warmups)))
	}
	put(root, "load", load)
	for _, serve := range p.ServeParams {
		arm, err := p.arm(serve, !address)
		if err != nil {
			return nil, err
		}
		if arm != nil {
			arms.Content = append(arms.Content, arm)
		}
	}
	if arms.Content == nil {
		return nil, errors.New("argument --link-vars: no combination of --serve-params goes with one of --bench-params")
	}
	put(root, "arms", arms)
	between := mapping()
	switch {
	case p.After != "":
		put(between, "command", scalar(p.After))
	case path.Base(p.Serve[0]) == "vllm":
		put(between, "reset-prefix-cache", scalar("true"))
	}
	if between.Content != nil {
		put(root, "between", between)
	}
	return written(root)
}

// arm is a server's combination with its loads; nil if it has none.
func (p *Parameters) arm(serve Combination, withURL bool) (*yaml.Node, error) {
	grid := &yaml.Node{Kind: yaml.SequenceNode}
	for _, bench := range p.BenchParams {
		if !p.linked(serve, bench) {
			continue
		}
		point := mapping()
		if name, named := bench.Get(nameKey); named {
			put(point, "label", scalar(fmt.Sprint(name)))
		}
		for _, m := range bench.params() {
			if _, named := bench.Get(nameKey); named && spelling(m.Key) == "label" {
				return nil, fmt.Errorf("argument --bench-params: %s: its name becomes the label: leave out one of the two",
					bench.name())
			}
			if _, isList := m.Value.([]any); isList {
				return nil, fmt.Errorf("argument --bench-params: %s: it is a list: write it as one text, as the flag takes it",
					m.Key)
			}
			put(point, spelling(m.Key), scalar(plainText(m.Value)))
		}
		if point.Content != nil {
			grid.Content = append(grid.Content, point)
		}
	}
	if grid.Content == nil && len(p.Links) > 0 {
		return nil, nil
	}
	command := serve.apply(p.Serve)
	url := serverURL(command)
	arm := mapping()
	name := serve.name()
	if name == "" {
		name = usualArm
	}
	put(arm, "name", scalar(name))
	if withURL {
		put(arm, "url", scalar(url))
	}
	put(arm, "command", list(command))
	env := mapping()
	// to reset caches
	put(env, "VLLM_SERVER_DEV_MODE", &yaml.Node{Kind: yaml.ScalarNode, Value: "1", Style: yaml.DoubleQuotedStyle})
	put(arm, "env", env)
	put(arm, "ready", scalar(url+"/health"))
	put(arm, "ready-timeout", scalar(p.Within))
	if params := serve.params(); len(params) > 0 {
		labels := mapping()
		for _, m := range params {
			put(labels, m.Key, scalar(plainText(m.Value)))
		}
		put(arm, "labels", labels)
	}
	if grid.Content != nil {
		put(arm, "grid", grid)
	}
	return arm, nil
}

// serverURL is where the server of a command listens.
func serverURL(command []string) string {
	host, port := "127.0.0.1", "8000"
	for i, word := range command {
		name, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(command) {
			value = command[i+1]
		}
		switch name {
		case "--host":
			host = value
		case "--port", "-p":
			port = value
		}
	}
	if host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
