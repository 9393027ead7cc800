package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics/pyjson"
)

// parseConfig takes the flags of a YAML file: its keys are their names. True
// gives a switch, a list several arguments, a mapping JSON.
func (t table) parseConfig(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("argument --config: %w", err)
	}
	defer file.Close()
	return t.readConfig(name, file)
}

func (t table) readConfig(name string, r io.Reader) error {
	var doc yaml.Node
	switch err := yaml.NewDecoder(r).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil // an empty file sets nothing
	case err != nil:
		return yamlError(name, err)
	}
	if err := doc.Decode(new(any)); err != nil { // a key given twice, an alias of what it is in
		return yamlError(name, err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: it must be a mapping from flag names to values", name, root.Line)
	}
	var dotted []string // taken at once, for they add up
	for entry := range slices.Chunk(root.Content, 2) {
		key, value := entry[0], entry[1]
		args, err := t.configArgs(key.Value, value)
		if err == nil && strings.Contains(key.Value, ".") {
			dotted = append(dotted, args...)
			continue
		}
		if err == nil {
			err = t.parse(args)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, key.Line, err)
		}
	}
	if err := t.parse(dotted); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

func yamlError(name string, err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s:%s: %s", name, m[1], m[2])
	}
	return fmt.Errorf("%s: %w", name, err)
}

// configArgs is one entry of the file as a command line.
func (t table) configArgs(key string, value *yaml.Node) ([]string, error) {
	option := dashed("--" + key)
	if found := t.find(option); len(found) == 1 && found[0].name == "config" {
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
	if f := t.lookup(option); f != nil && (f.args == none || f.bare && value.Tag == "!!bool") {
		return t.configSwitch(key, value)
	}
	if value.Tag == "!!null" {
		return nil, fmt.Errorf("%s has no value", key)
	}
	return []string{option + "=" + value.Value}, nil
}

// configSwitch reads a boolean as YAML 1.1 spells it, which is what vLLM's
// reader takes.
func (t table) configSwitch(key string, value *yaml.Node) ([]string, error) {
	switch strings.ToLower(value.Value) {
	case "true", "yes", "on":
		return []string{dashed("--" + key)}, nil
	case "false", "no", "off":
		if off := dashed("--no-" + key); t.lookup(off) != nil {
			return []string{off}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%s must be true or false, not %s", key, quoted(value.Value))
}

// yamlValue is a YAML value as JSON has it.
func yamlValue(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.AliasNode:
		return yamlValue(node.Alias)
	case yaml.MappingNode:
		object := pyjson.Object{}
		for entry := range slices.Chunk(node.Content, 2) {
			v, err := yamlValue(entry[1])
			if err != nil {
				return nil, err
			}
			object = object.With(entry[0].Value, v)
		}
		return object, nil
	case yaml.SequenceNode:
		array := []any{}
		for _, item := range node.Content {
			v, err := yamlValue(item)
			if err != nil {
				return nil, err
			}
			array = append(array, v)
		}
		return array, nil
	}
	return yamlScalar(node)
}

func yamlScalar(node *yaml.Node) (any, error) {
	switch node.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := node.Decode(&b)
		return b, err
	case "!!int":
		var n int
		err := node.Decode(&n)
		return n, err
	case "!!float":
		var f float64
		err := node.Decode(&f)
		return f, err
	}
	return node.Value, nil
}
