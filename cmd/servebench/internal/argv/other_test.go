package argv

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Flags of another command are passed on as they stand, after the command's own ones.
func TestOtherFlagsArePassedOn(t *testing.T) {
	for line, want := range map[string]string{
		"--count 1,2 --quiet file":       "--count [1,2], file [file], quiet true",
		"--qui":                          "ambiguous option: --qui could match --quiet, --quick",
		"--cou=x --quie":                 "--count [x], file [], quiet true",
		"--target a b --target=c file":   "--target [a b] --target [c], file [file], quiet false",
		"--quick --seed 4 --conf f.yaml": "--quick [] --seed [4] --config [f.yaml], file [], quiet false",
		"--seed own":                     "--seed [own], file [], quiet false",
		"--cuont 3":                      "unknown flag --cuont: did you mean --count?",
		"--quite":                        "unknown flag --quite: did you mean --quiet?",
		"--count":                        "argument --count: expected one argument",
		"--key a secret":                 "--key [a], file [secret], quiet false",
	} {
		f := New(pflag.NewFlagSet("command", pflag.ContinueOnError))
		quiet := f.Bool("quiet", false, "say less")
		f.Arguments, f.Other = true, sample()
		err := f.Parse(strings.Fields(line))
		var parts []string
		for _, s := range f.Passed() {
			parts = append(parts, fmt.Sprintf("--%s %s", s.Flag.Name, s.Values))
		}
		got := fmt.Sprintf("%s, file %s, quiet %t", strings.Join(parts, " "), f.Args(), *quiet)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	f := New(pflag.NewFlagSet("command", pflag.ContinueOnError))
	f.String("count", "", "its own")
	f.Other = sample()
	if err := f.Parse([]string{"--cou", "1,2"}); err != nil || len(f.Passed()) > 0 || !slices.Equal(f.Given("count"), []string{"1,2"}) {
		t.Errorf("%v, passed %v, given %q", err, f.Passed(), f.Given("count"))
	}
}
