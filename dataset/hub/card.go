package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A card is the configurations that the README.md of a dataset lists.
type card []config

// A config is one configuration: which files have which split.
type config struct {
	Name    string    `yaml:"config_name"`
	Files   filesList `yaml:"data_files"`
	Folder  string    `yaml:"data_dir"`
	Default bool      `yaml:"default"`
}

// A filesList is patterns of files by split. A card has them as one pattern, as a list of patterns, or
// as a list of objects with split and path.
type filesList struct{ patterns map[string][]string }

// UnmarshalYAML reads any of these.
func (l *filesList) UnmarshalYAML(node *yaml.Node) error {
	l.patterns = map[string][]string{}
	var several []struct {
		Split string
		Path  texts
	}
	if node.Kind == yaml.SequenceNode && len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode {
		err := node.Decode(&several)
		for _, one := range several {
			l.patterns[one.Split] = append(l.patterns[one.Split], one.Path...)
		}
		return err
	}
	var train texts
	err := node.Decode(&train)
	l.patterns["train"] = train
	return err
}

// texts is a list of texts. One text is a list, too.
type texts []string

// UnmarshalYAML reads a text or a list of texts.
func (t *texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = texts{node.Value}
		return nil
	}
	return node.Decode((*[]string)(t))
}

// readCard reads README.md in a folder. Without it there is no card.
func readCard(folder string) (card, error) {
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := parseCard(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(folder, "README.md"), err)
	}
	return c, nil
}

// parseCard reads the YAML that a card begins with.
func parseCard(text string) (card, error) {
	text, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !ok {
		return nil, nil
	}
	head, _, _ := strings.Cut(text, "\n---")
	var front struct {
		Configs card `yaml:"configs"`
	}
	if err := yaml.Unmarshal([]byte(head), &front); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(front.Configs, func(c config) bool { return c.Files.patterns == nil && c.Folder == "" }), nil
}

// config is the configuration of that name; empty is the default one.
func (c card) config(name string) (*config, error) {
	var names []string
	for i := range c {
		if one := &c[i]; one.Name == name || name == "" && (one.Default || len(c) == 1 || one.Name == "default") {
			return one, nil
		}
		names = append(names, c[i].Name)
	}
	list := strings.Join(names, ", ")
	if name == "" {
		return nil, fmt.Errorf("it has several subsets: give one of them as --hf-subset: %s", list)
	}
	return nil, fmt.Errorf("it has no subset %s: give one of them as --hf-subset: %s", name, list)
}

// matching is the files that match a pattern, in which * and ? match within a name, and ** matches
// folders, too.
func matching(files []string, pattern string) (matched []string) {
	expression := globbed(pattern)
	for _, file := range files {
		if expression.MatchString(file) {
			matched = append(matched, file)
		}
	}
	return matched
}

var globParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|[^*?\[]+|\[`)
})

// globbed is a pattern of files as a regular expression. A pattern that is none matches itself.
func globbed(pattern string) *regexp.Regexp {
	pattern = strings.ToValidUTF8(pattern, "\ufffd")
	text := globParts().ReplaceAllStringFunc(pattern, func(part string) string {
		switch {
		case part == "**/":
			return `(?:.*/)?`
		case part == "**":
			return `.*`
		case part == "*":
			return `[^/]*`
		case part == "?":
			return `[^/]`
		case len(part) > 2 && part[0] == '[':
			inner := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(part[1 : len(part)-1])
			if rest, ok := strings.CutPrefix(inner, "!"); ok {
				inner = "^" + rest
			}
			return "[" + inner + "]"
		}
		return regexp.QuoteMeta(part)
	})
	expression, err := regexp.Compile("^" + text + "$")
	if err != nil {
		return regexp.MustCompile("^" + regexp.QuoteMeta(pattern) + "$")
	}
	return expression
}
