package argv

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sample are flags of each kind.
func sample() *Flags {
	f := New(pflag.NewFlagSet("sample", pflag.ContinueOnError))
	f.Int("count", 3, "`N` an integer")
	f.Uint64("seed", 0, "`N` one without a sign")
	f.Duration("pause", time.Second, "`TIME` a duration")
	f.IntSlice("streams", []int{1, 2}, "`N,N` several integers")
	f.StringArray("write", nil, "`FILE` each occurrence adds one")
	f.ListVar(new([]string), "label", Many, "`TEXT` any words")
	f.ListVar(new([]string), "target", Gathered, "`URL` all words of all occurrences")
	f.ListVar(new([]string), "watch", Bare, "`URL` a switch, or words")
	f.String("option", "", "`OPTION` for another program")
	f.Verbatim("option")
	f.String("key", "", "`KEY` a secret")
	f.Conceal("key", func(string) string { return "***" })
	f.Bool("quick", false, "a switch")
	f.Bool("no-quick", false, "its opposite")
	f.ConfigFile("config", "`FILE` more flags")
	f.Instead = map[string]string{"--counter": "use --count"}
	return f
}

func TestFlagsAreReadByTheirKind(t *testing.T) {
	for _, row := range []struct {
		line, name, want string
	}{
		{"--count 1_000", "count", "1000"},
		{"--cou 010", "count", "10"},
		{"--seed 18446744073709551615", "seed", "18446744073709551615"},
		{"--pause 1.5", "pause", "1.5s"},
		{"--pause 90s", "pause", "1m30s"},
		{"--streams 4,1_0", "streams", "[4,10]"},
		{"--write a --write b", "write", "[a,b]"},
		{"--label a b --label c", "label", "[c]"},
		{"--label", "label", "[]"},
		{"--target a --target b c", "target", "[a,b,c]"},
		{"--watch", "watch", "[]"},
		{"--option --nodes=4", "option", "--nodes=4"},
		{"--option=-x", "option", "-x"},
		{"--quick", "quick", "true"},
	} {
		f := sample()
		if err := f.Parse(strings.Fields(row.line)); err != nil {
			t.Errorf("%s: %v", row.line, err)
		}
		if flag := f.Lookup(row.name); flag.Value.String() != row.want || !flag.Changed {
			t.Errorf("%s: %s is %q, want %q", row.line, row.name, flag.Value, row.want)
		}
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	for line, want := range map[string]string{
		"--count x":             "argument --count: invalid int value: 'x'",
		"--count 1e99":          "argument --count: invalid int value: '1e99'",
		"--seed -1":             "argument --seed: int value out of range: '-1'",
		"--pause soon":          "argument --pause: invalid duration: 'soon': it must be seconds, or a number with a unit as in 90s or 5m",
		"--streams 1,x":         "argument --streams: invalid int value: 'x'",
		"--target":              "argument --target: expected at least one argument",
		"--count":               "argument --count: expected one argument",
		"--quick=yes":           "argument --quick: ignored explicit argument 'yes'",
		"--co 1":                "ambiguous option: --co could match --count, --config",
		"--co=s3cret":           "ambiguous option: --co could match --count, --config",
		"--counter 1":           "there is no flag --counter: use --count",
		"--cuont=s3cret":        "unknown flag --cuont: did you mean --count?",
		"--key=s3cret s3cret":   "unrecognized arguments after --key: a value that holds spaces needs quotes",
		"-C:s3cret":             "unknown flag -C: --help=all lists the flags",
		"http://me:s3cret@h":    "unrecognized arguments: a word with a URL or an @: this command takes flags alone",
		"--count 1 more":        "unrecognized arguments: more: this command takes flags alone",
		"--config /none/a.yaml": "argument --config: open /none/a.yaml: no such file or directory",
	} {
		if err := sample().Parse(strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestPrefixesMeanTheFirstFlags(t *testing.T) {
	f := sample()
	f.First = func() []string { return []string{"config"} }
	if found := f.Find("--co"); len(found) != 1 || found[0].Name != "config" {
		t.Errorf("--co is %v", found)
	}
	if found := f.Find("--cou"); len(found) != 1 || found[0].Name != "count" {
		t.Errorf("--cou is %v", found)
	}
}

func TestValuesAreThoseGivenAndDefaults(t *testing.T) {
	f := sample()
	if err := f.Parse([]string{"--seed", "0_7", "--key=s3cret", "--quick", "--watch", "--label", "a", "b"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for name, value := range f.Values() {
		got = append(got, name+"="+value)
	}
	want := []string{"count=3", "seed=0_7", "pause=1s", "streams=[1,2]", "label=a b", "watch=true", "key=***", "quick=true"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// verb is a command that takes words beside its flags.
func verb(check cobra.PositionalArgs, run func(cmd *cobra.Command, args []string)) (*cobra.Command, *Flags) {
	cmd := &cobra.Command{Use: "verb", Args: check, SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, args []string) error {
		run(cmd, args)
		return nil
	}}
	f := Of(cmd)
	f.Bool("quick", false, "a switch")
	f.String("format", "text", "`FORMAT` of the output")
	f.Choices("format", "text", "json")
	return cmd, f
}

func TestCommandsTakeArgumentsBesideFlags(t *testing.T) {
	var got []string
	var dash int
	cmd, _ := verb(cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) { got, dash = args, cmd.ArgsLenAtDash() })
	cmd.SetArgs([]string{"old", "--qui", "older", "--", "--new", "--"})
	if err := cmd.Execute(); err != nil || !slices.Equal(got, []string{"old", "older", "--new", "--"}) || dash != 2 {
		t.Errorf("%q, -- at %d, %v", got, dash, err)
	}
}

func TestCommandsCheckTheirArguments(t *testing.T) {
	for _, row := range []struct {
		check cobra.PositionalArgs
		args  []string
		want  string
	}{
		{cobra.MinimumNArgs(1), []string{"--quick"}, "requires at least 1 arg(s), only received 0"},
		{cobra.ArbitraryArgs, []string{"a", "--quik", "b"}, "unknown flag --quik: did you mean --quick?"},
		{nil, []string{"a"}, "unrecognized arguments: a: this command takes flags alone"},
	} {
		cmd, _ := verb(row.check, func(*cobra.Command, []string) { t.Errorf("%q: the command ran", row.args) })
		cmd.SetArgs(row.args)
		if err := cmd.Execute(); err == nil || err.Error() != row.want {
			t.Errorf("%q: %v, want %s", row.args, err, row.want)
		}
	}
}

func TestHelpIsAskedForInItsPlace(t *testing.T) {
	f := sample()
	f.BoolP("help", "h", false, "show this help")
	if err := f.Parse([]string{"--count", "1", "-h", "--nothing"}); !errors.Is(err, pflag.ErrHelp) {
		t.Error(err)
	}
	if err := f.Parse([]string{"--count", "x", "-h"}); errors.Is(err, pflag.ErrHelp) || err == nil {
		t.Error(err)
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add("count: 10\nlabel: [a]\noption: {a: &a {b: 1e3}, c: *a}\n")
	f.Add("option.a: 1\nquick: on\nquick: off\nwatch: true")
	f.Add("seed: !!int '5'\n? {a: b}\n: c\n")
	f.Fuzz(func(t *testing.T, text string) {
		if err := (configuration{sample()}).read("bench.yaml", strings.NewReader(text)); err != nil && !strings.HasPrefix(err.Error(), "bench.yaml:") {
			t.Fatalf("the error does not name the file: %v", err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("--count\x005\x00--label\x00a\x00b\x00--watch")
	f.Add("--option.a.b\x001\x00--option.l+=a,b\x00--\x00x")
	f.Add("--option\x00--x\x00-\x00--pause\x00-0.5")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "\x00")
		if strings.Contains(line, "--c") {
			return // a configuration file is not for a fuzzer to choose
		}
		before := slices.Clone(words)
		f := sample()
		f.Arguments = true
		f.Parse(words)
		if !slices.Equal(words, before) {
			t.Fatalf("the command line was changed to %q", words)
		}
	})
}
