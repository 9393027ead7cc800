package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/loadgen/sweep/draft"
)

// armFlags are the arms of a sweep's command line, as NAME=COMMAND or NAME=URL; nil for none.
type armFlags []string

func (a *armFlags) define(f *argv.Flags) {
	f.StringArrayVar((*[]string)(a), "arm", nil,
		"`NAME=SERVER` a server to compare: a command that starts it, as for a shell, or the URL of one that runs. Give "+
			"one for each server, the old one first. ${port} in a command is a free port")
	f.Offer("arm", "old=", "new=")
}

// document is the file that says the same as the flags, with values as show formats them.
func (a armFlags) document(f *argv.Flags, show func(name, value string) string) ([]byte, error) {
	options := sweepOptions(f, show)
	if a == nil {
		return draft.Document(options)
	}
	arms := draft.Option{Flag: "arm", Words: true}
	for _, text := range a {
		if name, server, err := draft.CutArm(text); err == nil && draft.IsURL(server) {
			text = name + "=" + show("base-url", server)
		}
		arms.Values = append(arms.Values, text)
	}
	return draft.Document(append(options, arms))
}

// names are the names of the arms of the command line, in a plain spelling.
func (a armFlags) names() (names []string) {
	for _, text := range a {
		name, _, _ := strings.Cut(text, "=")
		names = append(names, notPlain.ReplaceAllString(name, "-"))
	}
	return names
}

// notPlain is what no folder's name gets from an arm.
var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// misplaced is the error for a word next to --arm.
func (a armFlags) misplaced(word string) error {
	if ext := filepath.Ext(word); ext == ".yaml" || ext == ".yml" {
		return fmt.Errorf("argument --arm: %s has the arms: put it there, under arms, or give --arm and no FILE", word)
	}
	return fmt.Errorf("%s: no flag has it: put the command of an arm between quotes, as --arm new='vllm serve MODEL "+
		"--port ${port}'", redact.URL(word))
}
