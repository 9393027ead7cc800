package argv

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A configuration reads flags of a command from a YAML file, whose keys are their names.
type configuration struct{ flags *Flags }

// Entry is one entry of a configuration file as words of a command line.
func (f *Flags) Entry(key string, value *yaml.Node) ([]string, error) {
	return configuration{f}.entry(key, value)
}

// parse reads the flags of a file. True sets a switch, a list gives several arguments, a mapping gives
// JSON.
func (c configuration) parse(name string) error {
	file, err := OpenYAML(name)
	if err != nil {
		return fmt.Errorf("argument --%s: %w", c.flags.config, err)
	}
	defer file.Close()
	return c.read(name, file)
}

// read reads the file of that name from r. Its errors begin with the name.
func (c configuration) read(name string, r io.Reader) error {
	root, err := ReadYAML(name, r)
	if root == nil {
		return err
	}
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: it must be a mapping from flag names to values", name, root.Line)
	}
	var dotted []string // parsed together, since they add up
	for entry := range slices.Chunk(root.Content, 2) {
		key, value := entry[0], entry[1]
		words, err := c.entry(key.Value, value)
		if err == nil && strings.Contains(key.Value, ".") {
			dotted = append(dotted, words...)
			continue
		}
		if err == nil {
			_, err = c.flags.parse(words)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, key.Line, err)
		}
	}
	if _, err := c.flags.parse(dotted); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// entry is one entry of a configuration file as words of a command line.
func (c configuration) entry(key string, value *yaml.Node) ([]string, error) {
	option := Dashed("--" + key)
	if found := c.flags.Find(option); len(found) == 1 && found[0].Name == c.flags.config {
		return nil, errors.New("a configuration file cannot name another one")
	}
	for value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch value.Kind {
	case yaml.SequenceNode:
		var args []string
		for _, item := range value.Content {
			for item.Kind == yaml.AliasNode {
				item = item.Alias
			}
			args = append(args, item.Value)
		}
		if args == nil {
			return nil, nil
		}
		return append([]string{option}, args...), nil
	case yaml.MappingNode:
		v, err := yamlValue(value)
		if err != nil {
			return nil, err
		}
		return []string{option + "=" + string(pyjson.Append(nil, v))}, nil
	}
	flag := c.flags.lookup(option)
	if flag != nil && (arityOf(flag) == None || arityOf(flag) == Bare && value.Tag == "!!bool") {
		return c.entrySwitch(key, value)
	}
	if value.Tag == "!!null" {
		return nil, fmt.Errorf("%s has no value", key)
	}
	return []string{option + "=" + value.Value}, nil
}

// entrySwitch reads a boolean in the spelling of YAML 1.1, as vLLM's reader does.
func (c configuration) entrySwitch(key string, value *yaml.Node) ([]string, error) {
	switch strings.ToLower(value.Value) {
	case "true", "yes", "on":
		return []string{Dashed("--" + key)}, nil
	case "false", "no", "off":
		if off := Dashed("--no-" + key); c.flags.lookup(off) != nil {
			return []string{off}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%s must be true or false, not %s", key, pyjson.Quote(value.Value))
}
