package sweep

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

var lineNumber = regexp.MustCompile(`(?s)line (\d+): (.*)`)

// located puts the file's name and the line in front of an error. An error without a file has
// neither.
func located(name string, err error) error {
	if m := lineNumber.FindStringSubmatch(err.Error()); m != nil && name == "" {
		return errors.New(m[2])
	}
	if name == "" {
		return err
	}
	if m := lineNumber.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s:%s: %s", name, m[1], m[2])
	}
	return fmt.Errorf("%s: %w", name, err)
}

// at is an error about a node.
func at(node *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", node.Line, fmt.Errorf(format, args...))
}

// entries calls do for each entry of a mapping. A nil node has none.
func entries(node *yaml.Node, what string, do func(key, value *yaml.Node) error) error {
	if node == nil {
		return nil
	}
	if node = resolved(node); node.Kind != yaml.MappingNode {
		return at(node, "%s must be a mapping", what)
	}
	for _, entry := range merged(node) {
		if err := do(entry[0], resolved(entry[1])); err != nil {
			return err
		}
	}
	return nil
}

// merged are the entries of a mapping, followed by the entries of other mappings that << adds,
// except for keys that it has itself. The decoder has checked that << has mappings.
func merged(node *yaml.Node) (all [][]*yaml.Node) {
	var others []*yaml.Node
	for entry := range slices.Chunk(node.Content, 2) {
		from := resolved(entry[1])
		switch {
		case entry[0].Tag != "!!merge":
			all = append(all, entry)
		case from.Kind == yaml.SequenceNode:
			others = append(others, from.Content...)
		default:
			others = append(others, from)
		}
	}
	for _, other := range others {
		for _, entry := range merged(resolved(other)) {
			if !slices.ContainsFunc(all, func(own []*yaml.Node) bool { return own[0].Value == entry[0].Value }) {
				all = append(all, entry)
			}
		}
	}
	return all
}

// resolved is the node that an alias refers to, and any other node itself.
func resolved(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// fields stores the values of a mapping by their keys: in a pointer, or through a func
// that gets the value.
func fields(node *yaml.Node, what string, to map[string]any) error {
	return entries(node, what, func(key, value *yaml.Node) error {
		place, ok := to[key.Value]
		if !ok {
			known := strings.Join(slices.Sorted(maps.Keys(to)), ", ")
			return at(key, "%s: %s has no such key; it has %s", key.Value, what, known)
		}
		switch place := place.(type) {
		case func(*yaml.Node) error:
			if err := place(value); err != nil {
				return err
			}
		case **yaml.Node:
			*place = value
		default:
			if value.Tag == "!!null" || value.Decode(place) != nil {
				return at(value, "%s must be %s", key.Value, kindOf(place))
			}
		}
		return nil
	})
}

// kindOf says in words what a pointer can take.
func kindOf(place any) string {
	switch place.(type) {
	case *bool:
		return "true or false"
	case *int, *int64:
		return "a whole number"
	case *float64:
		return "a number"
	case *[]string:
		return "a list of texts"
	case *map[string]string:
		return "a mapping from names to texts"
	}
	return "a text"
}

// command reads a command: a list of words, or one text for the shell.
func command(to *[]string) func(*yaml.Node) error {
	return func(node *yaml.Node) error {
		*to = nil
		switch node.Kind {
		case yaml.ScalarNode:
			if node.Tag != "!!null" && strings.TrimSpace(node.Value) != "" {
				*to = []string{"sh", "-c", node.Value}
			}
		case yaml.SequenceNode:
			for _, word := range node.Content {
				if word = resolved(word); word.Kind != yaml.ScalarNode {
					return at(word, "a word of a command must be a text")
				}
				*to = append(*to, word.Value)
			}
		}
		if len(*to) == 0 || (*to)[0] == "" {
			return at(node, "a command must be a list of words, or one text for the shell")
		}
		return nil
	}
}

// duration reads seconds, or a number with a unit.
func duration(to *time.Duration) func(*yaml.Node) error {
	return func(node *yaml.Node) error {
		seconds, err := strconv.ParseFloat(node.Value, 64)
		if err != nil {
			*to, err = time.ParseDuration(node.Value)
		} else {
			*to = time.Duration(seconds * float64(time.Second))
		}
		if err != nil || *to < 0 || math.IsNaN(seconds) || seconds > math.MaxInt64/1e9 {
			return at(node, "%q: it must be seconds, or a number with a unit as in 90s or 5m", node.Value)
		}
		return nil
	}
}
