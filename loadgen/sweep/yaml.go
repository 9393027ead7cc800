package sweep

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
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
	m := lineNumber.FindStringSubmatch(err.Error())
	switch {
	case m == nil && name == "":
		return err
	case m == nil:
		return fmt.Errorf("%s: %w", name, err)
	case name == "":
		return errors.New(m[2])
	}
	return fmt.Errorf("%s:%s: %s", name, m[1], m[2])
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

// fields reads a mapping into a struct, whose tags name the keys that it may have, as package yaml has
// them. What the file does not have stays as it is.
func fields(node *yaml.Node, what string, to any) error {
	keys := keysOf(reflect.ValueOf(to).Elem())
	return entries(node, what, func(key, value *yaml.Node) error {
		place, ok := keys[key.Value]
		if !ok {
			known := strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
			return at(key, "%s: %s has no such key; it has %s", key.Value, what, known)
		}
		return store(key.Value, value, place)
	})
}

// keysOf are the keys of a struct, and where their values go.
func keysOf(part reflect.Value) map[string]reflect.Value {
	keys := map[string]reflect.Value{}
	for field, value := range reflect.Indirect(part).Fields() {
		switch key := field.Tag.Get("yaml"); key {
		case "":
		case ",inline":
			maps.Copy(keys, keysOf(value))
		default:
			keys[key] = value
		}
	}
	return keys
}

// store reads the value of a key. A type with a method UnmarshalYAML reads itself.
func store(key string, node *yaml.Node, place reflect.Value) error {
	switch to := place.Addr().Interface().(type) {
	case yaml.Unmarshaler:
		return to.UnmarshalYAML(node)
	case **yaml.Node:
		*to = node
		return nil
	case *time.Duration:
		return duration(node, to)
	}
	switch {
	case place.Kind() == reflect.Struct:
		return fields(node, key, place.Addr().Interface())
	case place.Kind() == reflect.Slice && place.Type().Elem().Kind() == reflect.Struct:
		return parts(key, node, place)
	case node.Tag == "!!null" || node.Decode(place.Addr().Interface()) != nil:
		return at(node, "%s must be %s", key, nodeKinds[place.Kind()])
	}
	return nil
}

// parts reads a list of at least one part, which reads itself.
func parts(key string, node *yaml.Node, place reflect.Value) error {
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return at(node, "%s must be a list of mappings, with one at least", key)
	}
	for _, item := range node.Content {
		part := reflect.New(place.Type().Elem())
		if err := part.Interface().(yaml.Unmarshaler).UnmarshalYAML(item); err != nil {
			return err
		}
		place.Set(reflect.Append(place, part.Elem()))
	}
	return nil
}

// nodeKinds say in words what a place can take.
var nodeKinds = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Int64: "a whole number",
	reflect.Float64: "a number",
	reflect.String:  "a text", reflect.Slice: "a list of texts", reflect.Map: "a mapping from names to texts",
}

// A Command is the words of a command. In a file it may also be one text, which is for the shell.
type Command []string

// UnmarshalYAML reads a list of words, or one text.
func (c *Command) UnmarshalYAML(node *yaml.Node) error {
	*c = nil
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag != "!!null" && strings.TrimSpace(node.Value) != "" {
			*c = Command{"sh", "-c", node.Value}
		}
	case yaml.SequenceNode:
		for _, word := range node.Content {
			if word = resolved(word); word.Kind != yaml.ScalarNode {
				return at(word, "a word of a command must be a text")
			}
			*c = append(*c, word.Value)
		}
	}
	if len(*c) == 0 || (*c)[0] == "" {
		return at(node, "a command must be a list of words, or one text for the shell")
	}
	return nil
}

// duration reads seconds, or a number with a unit.
func duration(node *yaml.Node, to *time.Duration) error {
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
