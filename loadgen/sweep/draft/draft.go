// Package draft writes the file of an experiment that a command line describes: of flags with several
// values, of arms, or of vLLM's parameters for a sweep. Package sweep reads such files.
package draft

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An Option is a flag of a load with its values, as a command line has it.
type Option struct {
	Flag   string   // its full name
	Values []string // of which each run takes one
	Words  bool     // Values are the words of a single value instead
}

// varies says whether the flag belongs to the grid.
func (o *Option) varies() bool { return len(o.Values) > 1 && !o.Words }

// documentHead is the comment at the beginning of a Document.
const documentHead = `Run it by servebench sweep FILE. Paths are relative to the folder of this file.`

// Document is the file of the experiment that the flags of a command line describe. Flags with
// several values are its grid. The option arm has its arms, each as NAME=COMMAND or NAME=URL. The
// first of them changes fastest, which is the usual order of blocks: for each length of the prompt,
// from few prompts to many. Several URLs are its arms. The flags repeat and seed apply to the
// experiment.
func Document(options []Option) ([]byte, error) {
	options, given, err := withArms(options)
	if err != nil {
		return nil, err
	}
	root, load, grid, arms := mapping(), mapping(), mapping(), &yaml.Node{Kind: yaml.SequenceNode, Content: given}
	for _, o := range options {
		name := o.Flag
		switch {
		case name == "repeat" && !o.varies():
			put(root, "repeats", scalar(o.Values[0]))
		case name == "seed" && !o.varies():
			put(root, "seed", scalar(o.Values[0]))
		case name == "repeat":
			return nil, fmt.Errorf("argument --repeat: %s: it takes one number", strings.Join(o.Values, ","))
		case name == "base-url" && o.varies():
			arms.Content = armsOf(o.Values)
		case o.varies():
			grid.Content = slices.Concat([]*yaml.Node{scalar(name), list(o.Values)}, grid.Content)
		case o.Words:
			put(load, name, list(o.Values))
		default:
			put(load, name, scalar(o.Values[0]))
		}
	}
	for _, part := range []struct {
		key  string
		node *yaml.Node
	}{{"load", load}, {"grid", grid}, {"arms", arms}} {
		if part.node.Content != nil {
			put(root, part.key, part.node)
		}
	}
	return written(root)
}

// written is the text of a file, with documentHead.
func written(root *yaml.Node) ([]byte, error) {
	root.HeadComment = documentHead
	var text bytes.Buffer
	w := yaml.NewEncoder(&text)
	w.SetIndent(2)
	err := w.Encode(root)
	return text.Bytes(), err
}

// armsOf are an arm for each URL, named by its host, port and path. All files of the sweep have the
// name, so nothing else of the URL is in it: that may be a secret.
func armsOf(urls []string) (arms []*yaml.Node) {
	for i, text := range urls {
		_, after, ok := strings.Cut(text, "://")
		if !ok {
			after = text
		}
		authority := after[:strings.IndexAny(after+"/", "/?#")]
		after = after[strings.LastIndexByte(authority, '@')+1:]
		name := fmt.Sprintf("URL %d", i+1)
		if u, err := url.Parse("//" + after); err == nil && u.Host != "" && !strings.Contains(u.Path, "@") {
			name = u.Host + strings.TrimRight(u.Path, "/")
		}
		arm := mapping()
		put(arm, "name", scalar(name))
		put(arm, "url", scalar(text))
		arms = append(arms, arm)
	}
	return arms
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func put(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, scalar(key), value)
}

func list(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v))
	}
	return n
}

// scalar is a text, without quotes if it is a number or true.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	if _, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "0123456789.-") == "" || text == "true" {
		n.Kind, n.Value = yaml.ScalarNode, text
		return n
	}
	n.SetString(text)
	return n
}
