package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/metrics/pyjson"

	"github.com/spf13/pflag"
)

// testdata/argv.json holds what CPython 3.11's argparse gave for each command
// line, from a parser made of the table of newForm (our own flags only where -o
// is among the words) behind the rewriting of underscores and dotted flags that
// vLLM's parser does. BACKENDS and DATASETS stand for the names of all.
func TestArgvIsReadAsArgparseReadsIt(t *testing.T) {
	var cases []struct {
		Args  []string
		Set   map[string][]string
		Error string
	}
	data, err := os.ReadFile("testdata/argv.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(strings.Join(c.Args, " "), func(t *testing.T) {
			flags := emptyForm().flags
			err := flags.Parse(c.Args)
			if c.Error != "" {
				checkArgparseError(t, err, c.Error)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Set, given(t, flags)); diff != "" {
				t.Errorf("-argparse +ours:\n%s", diff)
			}
		})
	}
}

// given are the flags that were given, with their arguments; of a switch none.
func given(t *testing.T, flags *argv.Flags) map[string][]string {
	t.Helper()
	set := map[string][]string{}
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed {
			return
		}
		values := append([]string{}, flags.Given(flag.Name)...)
		if flag.Name == "extra-body" {
			object, err := argv.ParseObject(values[0])
			if err != nil {
				t.Fatal(err)
			}
			values = []string{string(pyjson.Append(nil, object))}
		}
		set[flag.Name] = values
	})
	return set
}

// checkArgparseError compares errors, which say more than argparse's for a word
// that belongs to no flag: they name it, and the flag it may have been meant to be.
func checkArgparseError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, argparse says %s", want)
	}
	got := unlisted(err.Error())
	if words, ok := strings.CutPrefix(want, "unrecognized arguments: "); ok {
		word, _, _ := strings.Cut(words, " ")
		word, _, _ = strings.Cut(word, "=")
		if !strings.HasPrefix(got, "unknown flag "+word) && !strings.HasPrefix(got, "unrecognized arguments: "+word) {
			t.Errorf("got %q for argparse's %q", got, want)
		}
		return
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnknownFlagNamesTheNearest(t *testing.T) {
	for given, want := range map[string]string{
		"--num-promts":           "unknown flag --num-promts: did you mean --num-prompts?",
		"--num_promts=5":         "unknown flag --num-promts: did you mean --num-prompts?",
		"--request-rates":        "unknown flag --request-rates: did you mean --request-rate?",
		"--extrabody.a=1":        "unknown flag --extrabody: did you mean --extra-body?",
		"--frobnicate-the-thing": "unknown flag --frobnicate-the-thing: --help=all lists the flags",
		"--url":                  "unknown flag --url: did you mean --base-url?",
		"--penalty=3":            "unknown flag --penalty: did you mean --frequency-penalty or --presence-penalty or --repetition-penalty?",
	} {
		_, err := parseRun([]string{given})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", given, err, want)
		}
	}
}

func TestFlagsOfOthersSayWhatReplacesThem(t *testing.T) {
	for given, want := range map[string]string{
		"--dataset":                   "there is no flag --dataset: use --dataset-name and --dataset-path",
		"--endpoint_type=openai-chat": "there is no flag --endpoint-type: use --backend",
		"--api-key=secret":            "there is no flag --api-key: set the environment variable OPENAI_API_KEY",
		"--rate=3":                    "there is no flag --rate: use --request-rate",
		"-n":                          "there is no flag -n: use --num-prompts",
		"--best-of":                   "there is no flag --best-of: vLLM dropped it",
	} {
		_, err := parseRun([]string{given, "x"})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", given, err, want)
		}
	}
}

// Whatever argparse takes for a flag of vLLM's must mean that flag here, however
// many flags of our own there are.
func TestOurFlagsShadowNoneOfTheirs(t *testing.T) {
	flags := emptyForm().flags
	theirs := vllmFlags()
	for _, name := range theirs {
		for n := 1; n <= len(name); n++ {
			for _, flag := range flags.Find("--" + name[:n]) {
				if !slices.Contains(theirs, flag.Name) {
					t.Errorf("--%s means --%s here", name[:n], flag.Name)
				}
			}
		}
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(theirs, flag.Name) {
			return
		}
		for _, name := range theirs {
			if strings.HasPrefix(name, flag.Name) {
				t.Errorf("--%s is short for vLLM's --%s", flag.Name, name)
			}
		}
	})
}

func FuzzParseRun(f *testing.F) {
	f.Add("--num-prompts\x005\x00--goodput\x00ttft:100\x00e2el:400")
	f.Add("--extra-body.a.b\x001\x00--extra-body.l+=a,b\x00--\x00x")
	f.Add("-o\x00-\x00--temperature\x00-0.5")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		if strings.Contains(line, "--c") {
			return // a configuration file is not for a fuzzer to choose
		}
		before := slices.Clone(args)
		o, err := parseRun(args)
		if (o == nil) == (err == nil) {
			t.Fatalf("options %v, error %v", o, err)
		}
		if !slices.Equal(args, before) {
			t.Fatalf("the command line was changed to %q", args)
		}
	})
}

// unlisted is a text with BACKENDS and DATASETS for the lists of their names.
func unlisted(text string) string {
	for word, names := range map[string][]string{"BACKENDS": api.Names(), "DATASETS": kinds.Names(0)} {
		text = strings.ReplaceAll(text, "'"+strings.Join(names, "', '")+"'", word)
		text = strings.ReplaceAll(text, strings.Join(names, ", "), word)
	}
	return text
}
