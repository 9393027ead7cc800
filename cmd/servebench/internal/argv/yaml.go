package argv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/servebench/servebench/metrics/pyjson"
	"go.yaml.in/yaml/v3"
)

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
