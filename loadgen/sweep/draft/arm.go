package draft

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// armOption is the name of the Option with the arms of a command line: NAME=COMMAND, a text for the shell
// that starts a server, or NAME=URL of one that runs. A comma in it is no list.
const armOption = "arm"

// CutArm takes an arm of a command line apart. It refuses names that cannot be told from something else
// later on: in a list of arms, or in the name of a file.
func CutArm(text string) (name, server string, err error) {
	name, server, ok := strings.Cut(text, "=")
	switch {
	case !ok || strings.Contains(name, "://"):
		return "", "", errors.New("it must be NAME=COMMAND, which starts a server, or NAME=URL of a server that runs, as " +
			"new=http://127.0.0.1:8000")
	case name == "" || strings.TrimSpace(name) != name:
		return "", "", fmt.Errorf("%q: an arm must have a name, without spaces around it, as new=COMMAND", name)
	case strings.ContainsAny(name, "/,"):
		return "", "", fmt.Errorf("%q: the name of an arm must have no slash and no comma", name)
	case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
		return "", "", errors.New("it must be text in UTF-8")
	case strings.TrimSpace(server) == "":
		return "", "", fmt.Errorf("%s: it must have a command or a URL, as %s=COMMAND or %s=http://127.0.0.1:8000", name,
			name, name)
	}
	return name, server, nil
}

// IsURL reports that the arm is on a server that runs.
func IsURL(server string) bool {
	return strings.HasPrefix(server, "http://") || strings.HasPrefix(server, "https://")
}

// freePort is the name of a free port in a file, which the sweep puts in.
var freePort = regexp.MustCompile(`\$\{port[0-9]*\}`)

// withArms takes the arms out of options, with what they take the place of.
func withArms(options []Option) (others []Option, arms []*yaml.Node, err error) {
	of := func(flag string) (values []string) {
		if i := slices.IndexFunc(options, func(o Option) bool { return o.Flag == flag }); i >= 0 {
			values = options[i].Values
		}
		return values
	}
	texts, base := of(armOption), of("base-url")
	switch {
	case texts == nil:
		return options, nil, nil
	case len(base) > 1:
		return nil, nil, errors.New("argument --arm: several URLs of --base-url are arms, too: give each as --arm NAME=URL")
	case of("target") != nil:
		return nil, nil, errors.New("argument --arm: arms with several targets take a FILE: servebench sweep --help shows " +
			"one")
	}
	arms, err = armsFrom(texts, strings.Join(base, ""))
	others = slices.DeleteFunc(slices.Clone(options),
		func(o Option) bool { return o.Flag == armOption || o.Flag == "base-url" })
	return others, arms, err
}

// armsFrom are the arms of a command line. The commands listen at base, if it is not empty.
func armsFrom(texts []string, base string) (arms []*yaml.Node, err error) {
	names := map[string]bool{}
	for _, text := range texts {
		name, server, err := CutArm(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("argument --arm: %w", err)
		case names[name]:
			return nil, fmt.Errorf("argument --arm: two arms are named %s: give each another name", name)
		case IsURL(server) && base != "":
			return nil, fmt.Errorf("argument --base-url: arm %s has its URL already: leave one of the two out", name)
		}
		names[name] = true
		arm := mapping()
		put(arm, "name", scalar(name))
		if IsURL(server) {
			put(arm, "url", scalar(server))
		} else {
			put(arm, "url", scalar(listensAt(server, base)))
			put(arm, "command", scalar(server))
		}
		arms = append(arms, arm)
	}
	return arms, nil
}

// listensAt is the URL of a command's server: base, or else a free port if the command names one, or the
// port in its flags, as vllm serve has it.
func listensAt(command, base string) string {
	switch {
	case base != "":
		return base
	case freePort.MatchString(command):
		return "http://127.0.0.1:" + freePort.FindString(command)
	}
	return serverURL(strings.Fields(command))
}
