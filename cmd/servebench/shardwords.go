package main

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
)

// shellLines are words as a POSIX shell reads them, each flag on a line of its own.
func shellLines(words []string) string {
	var text strings.Builder
	for _, word := range words {
		text.WriteString(" ")
		if argv.IsOption(word) {
			text.WriteString("\\\n    ")
		}
		if !plainShellWord.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		text.WriteString(word)
	}
	return text.String()
}

var plainShellWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// literal is a word of args as YAML. Kubernetes takes $(NAME) in one for a
// variable, and $$ for $.
func literal(word string) (string, error) {
	return yamlText(strings.ReplaceAll(word, "$", "$$"))
}

// yamlText is text as YAML reads it, on one line.
func yamlText(text string) (string, error) {
	var value any = text
	if strings.Contains(text, "\n") {
		value = &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text}
	}
	scalar, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(scalar), "\n"), err
}
