package argv

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

// parseConfig reads flags from a YAML file: its keys are their names. True sets a switch, a list
// gives several arguments, a mapping gives JSON.
func (f *Flags) parseConfig(name string) error {
	file, err := OpenYAML(name)
	if err != nil {
		return fmt.Errorf("argument --%s: %w", f.config, err)
	}
	defer file.Close()
	return f.readConfig(name, file)
}

func (f *Flags) readConfig(name string, r io.Reader) error {
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
		words, err := f.Entry(key.Value, value)
		if err == nil && strings.Contains(key.Value, ".") {
			dotted = append(dotted, words...)
			continue
		}
		if err == nil {
			_, err = f.parse(words)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, key.Line, err)
		}
	}
	if _, err := f.parse(dotted); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// OpenYAML opens a YAML file, which must not be a folder. The caller must close it.
func OpenYAML(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s: it is a folder: give the YAML file itself", name)
	}
	return f, nil
}

// ReadYAML reads the document of a YAML file, nil for an empty one. Errors name the
// file and, where it is known, the line.
func ReadYAML(name string, r io.Reader) (*yaml.Node, error) {
	var doc yaml.Node
	err := yaml.NewDecoder(r).Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		err = doc.Decode(new(any)) // a key given twice, an alias of what it is in
	}
	if err == nil {
		return doc.Content[0], nil
	}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return nil, fmt.Errorf("%s:%s: %s", name, m[1], m[2])
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// Entry is one entry of a configuration file as words of a command line.
func (f *Flags) Entry(key string, value *yaml.Node) ([]string, error) {
	option := Dashed("--" + key)
	if found := f.Find(option); len(found) == 1 && found[0].Name == f.config {
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
	if flag := f.lookup(option); flag != nil && (arityOf(flag) == None || arityOf(flag) == Bare && value.Tag == "!!bool") {
		return f.entrySwitch(key, value)
	}
	if value.Tag == "!!null" {
		return nil, fmt.Errorf("%s has no value", key)
	}
	return []string{option + "=" + value.Value}, nil
}

// entrySwitch reads a boolean in the spelling of YAML 1.1, as vLLM's reader does.
func (f *Flags) entrySwitch(key string, value *yaml.Node) ([]string, error) {
	switch strings.ToLower(value.Value) {
	case "true", "yes", "on":
		return []string{Dashed("--" + key)}, nil
	case "false", "no", "off":
		if off := Dashed("--no-" + key); f.lookup(off) != nil {
			return []string{off}, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%s must be true or false, not %s", key, pyjson.Quote(value.Value))
}

// yamlValue is a YAML value as JSON.
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
	switch node.Tag {
	case "!!int":
		var n int
		err := node.Decode(&n)
		return n, err
	case "!!null", "!!bool", "!!float":
		var v any
		err := node.Decode(&v)
		return v, err
	}
	return node.Value, nil
}
