package hf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A class is one form of rows.
type class struct {
	repositories []string // that have it
	split        string   // the default; empty for none
	subset       string   // the default
	noSubset     bool     // --hf-subset has no effect
	outputLen    int      // tokens to ask for by default; 0: as many as the recorded answer has
	rendered     rendering
	chat         bool   // it can make the user's message
	positions    bool   // ids count rows, also those that are left out
	fitting      string // what rows must do to fit

	columns []string // that turn takes
	// turn is the request of a row without its media; nil if the row does not fit.
	turn   func(o *opened, row pyjson.Object) (*dataset.Turn, error)
	medium *medium // nil for prompts of text alone

	// open gives the rows and their order.
	open func(o *opened) (store, []int, error)
}

// A rendering says whether the chat template renders prompts.
type rendering int

const (
	never rendering = iota
	unlessSkipped
	always
)

// classes are all, in the order in which vLLM's client tries them.
var classes = []*class{
	visionArena, mmvu, instructCoder, mtBench, humanEval, gsm8k, llava, shareGPT, aimo, zeta, asr, blazedit, mlperf,
	mmStar, bfcl,
}

// classOf is the first class that has the repository, by the dataset's path or by its name.
func classOf(path, name string) (*class, error) {
	for _, c := range classes {
		if slices.Contains(c.repositories, path) || slices.Contains(c.repositories, name) {
			return c, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("argument --hf-name: %s: it must be one of %s", name, strings.Join(Repositories(), ", "))
	}
	return nil, fmt.Errorf("argument --dataset-path: %s: it must be one of %s; for a folder or a file, name the "+
		"repository whose form its rows have as --hf-name",
		path, strings.Join(Repositories(), ", "))
}

// Repositories are the repositories whose rows can be read.
func Repositories() (list []string) {
	for _, c := range classes {
		list = append(list, c.repositories...)
	}
	return list
}

// Needs are what requests of a class need of the API.
type Needs struct {
	Media bool // it takes images, videos or sounds
	Files bool // it takes sounds as files
	Tools bool // it takes tools
}

// NeedsOf is the needs of the class of a dataset, by its path or its name. The error says which
// repositories have a class.
func NeedsOf(path, name string) (Needs, error) {
	c, err := classOf(path, name)
	if err != nil {
		return Needs{}, err
	}
	return Needs{Media: c.medium != nil, Files: c == asr, Tools: c == bfcl}, nil
}

// repository is the repository whose form the rows have.
func (o *opened) repository() string {
	if slices.Contains(o.class.repositories, o.of.Name) {
		return o.of.Name
	}
	return o.of.Path
}

// asked is the request for a prompt. answer is the recorded one.
func (o *opened) asked(messages []jinja.Message, answer string) (*dataset.Turn, error) {
	turn := &dataset.Turn{Prompt: messages[len(messages)-1].Content, OutputLen: o.class.outputLen}
	if o.template != nil {
		var err error
		if turn.Prompt, err = o.template.Render(messages, nil); err != nil {
			return nil, fmt.Errorf("chat template: %w", err)
		}
	}
	turn.PromptLen = o.of.Tokenizer.Count(turn.Prompt, true)
	if turn.OutputLen == 0 {
		turn.OutputLen = o.of.Tokenizer.Count(answer, true)
	}
	if o.of.OutputLen != nil {
		turn.OutputLen = *o.of.OutputLen
	}
	if o.class.chat && o.of.Chat && o.class.medium == nil {
		turn.Messages = message(turn.Prompt)
	}
	return turn, nil
}

// plain is a turn of a prompt alone.
func plain(prompt func(row pyjson.Object) (string, error)) func(*opened, pyjson.Object) (*dataset.Turn, error) {
	return func(o *opened, row pyjson.Object) (*dataset.Turn, error) {
		text, err := prompt(row)
		if err != nil {
			return nil, err
		}
		return o.asked(user(text), "")
	}
}

// user is a prompt as a user's message.
func user(prompt string) []jinja.Message { return []jinja.Message{{Role: "user", Content: prompt}} }

// column is a prompt that is a text in the row.
func column(path ...any) func(pyjson.Object) (string, error) {
	return func(row pyjson.Object) (string, error) { return text(row, path...) }
}

// text is a text in a row. The path has names of members and positions in lists.
func text(row pyjson.Object, path ...any) (string, error) {
	value, err := within(row, path...)
	if err != nil {
		return "", err
	}
	s, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("%s is no text", spelled(path))
	}
	return s, nil
}

// within is a value in a row.
func within(row pyjson.Object, path ...any) (any, error) {
	var value any = row
	for i, step := range path {
		found := false
		switch step := step.(type) {
		case string:
			object, _ := value.(pyjson.Object)
			value, found = object.Get(step)
		case int:
			list, _ := value.([]any)
			if found = step < len(list); found {
				value = list[step]
			}
		}
		if !found {
			return nil, fmt.Errorf("it has no %s", spelled(path[:i+1]))
		}
	}
	return value, nil
}

// spelled is a path as in Python.
func spelled(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fmt.Fprintf(&b, ".%s", step)
		default:
			fmt.Fprintf(&b, "[%d]", step)
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}
