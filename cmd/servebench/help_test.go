package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpOf is what a command line for help prints.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	program := newProgram()
	routed, _, err := program.Route(words)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	program.SetOut(&out)
	program.SetArgs(routed)
	if err := program.Execute(); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return out.String()
}

// people are the commands that are for people, as words.
func people() (all [][]string) {
	var below func(cmd *cobra.Command, words []string)
	below = func(cmd *cobra.Command, words []string) {
		all = append(all, words)
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				below(sub, append(slices.Clone(words), sub.Name()))
			}
		}
	}
	below(newProgram().Command, nil)
	return all
}

// defaultTwice is two defaults of one flag.
var defaultTwice = regexp.MustCompile(`\(default [^()]*\)\s+\(default`)

func TestHelpFitsATerminal(t *testing.T) {
	for _, words := range people() {
		for _, flag := range []string{"--help", "--help=all"} {
			if flag == "--help=all" && !slices.Contains([]string{"run", "dataset", "report", "sim", "sweep"}, strings.Join(words, " ")) {
				continue
			}
			help := helpOf(t, append(slices.Clone(words), flag)...)
			if twice := defaultTwice.FindString(help); twice != "" {
				t.Errorf("servebench %s %s: %s", strings.Join(words, " "), flag, twice)
			}
			for line := range strings.Lines(help) {
				if strings.HasPrefix(line, "  ") && slices.Equal(words, []string{"sweep"}) {
					continue // it shows an experiment, which is wider
				}
				if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 {
					t.Errorf("servebench %s %s: %d columns: %s", strings.Join(words, " "), flag, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

// The short help of run is what people need first: about thirty flags and three examples.
func TestShortHelpOfRun(t *testing.T) {
	help := helpOf(t, "run", "--help")
	if n := strings.Count(help, "\n  --") + strings.Count(help, "\n  -o, --") - 4; n != len(runCommon) || n != 30 { // 4 of "More help"
		t.Errorf("%d flags:\n%s", n, help)
	}
	if n := strings.Count(help, "\n  # "); n != 3 {
		t.Errorf("%d examples", n)
	}
}

// Each flag's text begins with a short sentence that says what it does.
func TestFlagsSayFirstWhatTheyDo(t *testing.T) {
	program := newProgram()
	if _, _, err := program.Route(nil); err != nil {
		t.Fatal(err)
	}
	for _, words := range people() {
		cmd, _, err := program.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			first, _, _ := strings.Cut(flag.Usage, "\n")
			if !cmd.DisableFlagParsing {
				return
			}
			if n := utf8.RuneCountInString(first); n < 9 || n > 125 || strings.Contains(flag.Usage, "`") || strings.HasSuffix(flag.Usage, ".") {
				t.Errorf("%s --%s: %q", cmd.Name(), flag.Name, flag.Usage)
			}
		})
	}
}

// shorter makes a quick load of an example's. It leaves time for a first answer.
func shorter() *strings.Replacer {
	duration := "--duration 500ms"
	if raced {
		duration = "--duration 5s"
	}
	return strings.NewReplacer("--request-rate 5", "--request-rate 500", "--duration 60s", duration)
}

// The examples in the help work as they stand, but for how long they take.
func TestExamplesOfTheHelpRun(t *testing.T) {
	if testing.Short() {
		t.Skip("the examples of the help, some 500 requests: in go test without -short")
	}
	t.Parallel()
	text := "```sh\n"
	for _, verb := range []string{"run", "dataset"} {
		cmd, _, err := newProgram().Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		text += strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n") + "\n"
	}
	examples := documented(shorter().Replace(text + "```\n"))
	if len(examples) != 6 {
		t.Fatalf("%d examples: %q", len(examples), examples)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "help.txtar"), []byte(scriptOf(examples)), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, scripts(dir))
}
