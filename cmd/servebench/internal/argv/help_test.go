package argv

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// load is a command with groups of flags, of which two are common.
func load() (*cobra.Command, *Flags) {
	cmd := &cobra.Command{
		Use: "load", Short: "Load a server", Long: "Load a server, and say\nhow it went.\n\n  as it is\nthis stays", Example: "  load --rate 5",
		SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil },
	}
	f := Of(cmd)
	f.Group("Traffic: when requests are sent", func(f *Flags) {
		f.Float64("rate", 1, "`RATE` requests per second. inf sends all at once, which is the most that a server can be asked for")
		f.Int("prompts", 1000, "`N` number of requests")
	})
	f.Group("Results: what is reported", func(f *Flags) {
		f.String("format", "text", "`FORMAT` of the result")
		f.String("percentile-metrics", "", "`LIST` latencies")
		f.String("out", "", "`FILE` where the result goes")
		f.String("dir", "", "`DIR` where pictures go")
		f.String("page", "", "`FILE` a page")
		f.ListVar(new([]string), "limit", Some, "`KEY:MS` limits of a good request")
		f.Bool("quiet", false, "say nothing. Not even -q\\o")
		f.BoolP("help", "h", false, "show this help")
	})
	f.Choices("format", "text", "json")
	f.OfferList("percentile-metrics", "ttft", "tpot")
	f.Offer("limit", "ttft:", "tpot:")
	f.OfferFiles("out")
	f.OfferFiles("page", "html")
	f.OfferFolders("dir")
	f.Common("rate", "quiet")
	return cmd, f
}

// said is what a command line prints.
func said(t *testing.T, cmd *cobra.Command, words ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(words)
	err := cmd.Execute()
	return out.String(), err
}

func TestShortHelpShowsTheCommonFlags(t *testing.T) {
	cmd, _ := load()
	got, err := said(t, cmd, "--help")
	if err != nil {
		t.Fatal(err)
	}
	if got != `Load a server, and say how it went.

  as it is
this stays

Usage:
  load [flags]

Examples:
  load --rate 5

Traffic: when requests are sent
  --rate RATE                 requests per second (default 1)

Results: what is reported
  --quiet                     say nothing

More help:
  --help=all                  all 10 flags, with all that there is to know
  --help=GROUP                the flags of a group: traffic, results
  --help=FLAG                 one flag, as --help=rate
  --help=WORD                 the flags that have this word in their name or
                              text
` {
		t.Error(got)
	}
}

func TestHelpIsSearched(t *testing.T) {
	const rate = `  --rate RATE                 requests per second. inf sends all at once, which
                              is the most that a server can be asked for
                              (default 1)
`
	const prompts = "  --prompts N                 number of requests (default 1000)\n"
	for topic, want := range map[string]string{
		"traffic":    "Traffic: when requests are sent\n" + rate + prompts,
		"TRAFFIC":    "Traffic: when requests are sent\n" + rate + prompts,
		"rate":       "Traffic: when requests are sent\n" + rate,
		"--prompts":  "Traffic: when requests are sent\n" + prompts,
		"per second": "Traffic: when requests are sent\n" + rate,
		"json":       "Results: what is reported\n  --format FORMAT             of the result (text, json) (default text)\n",
	} {
		cmd, _ := load()
		if got, err := said(t, cmd, "--help="+topic); got != want || err != nil {
			t.Errorf("--help=%s: %v\n%s", topic, err, got)
		}
	}
	cmd, _ := load()
	all, err := said(t, cmd, "--help=all")
	if err != nil || !strings.Contains(all, rate) {
		t.Errorf("%v\n%s", err, all)
	}
	const nothing = `argument --help: nothing is found for "colour": it takes all, a flag, a group (traffic, results), or a word of the help`
	cmd, _ = load()
	if out, err := said(t, cmd, "--help=colour"); err == nil || err.Error() != nothing || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestValuesAreCompleted(t *testing.T) {
	for _, row := range []struct {
		words, begun string
		want         []string
		directive    cobra.ShellCompDirective
	}{
		{"--format", "j", []string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp},
		{"a --for", "", []string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp},
		{"", "--format=j", []string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp},
		{"--percentile-metrics", "", []string{"ttft", "tpot"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace},
		{"--percentile-metrics", "ttft,", []string{"ttft,tpot"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace},
		{"--percentile-metrics", "ttft,x", nil, cobra.ShellCompDirectiveDefault},
		{"--limit ttft:100", "t", []string{"ttft:", "tpot:"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace},
		{"--out", "", nil, cobra.ShellCompDirectiveDefault},
		{"--page", "", []string{"html"}, cobra.ShellCompDirectiveFilterFileExt},
		{"--dir", "", nil, cobra.ShellCompDirectiveFilterDirs},
		{"--prompts", "", nil, cobra.ShellCompDirectiveNoFileComp},
		{"--quiet", "", []string{"--rate\trequests per second", "--quiet\tsay nothing"}, cobra.ShellCompDirectiveNoFileComp},
		{"", "--help=", []string{"all\tall flags", "traffic\twhen requests are sent", "results\twhat is reported"}, cobra.ShellCompDirectiveNoFileComp},
	} {
		_, f := load()
		got, directive := completion{accepted{f}}.complete(nil, strings.Fields(row.words), row.begun)
		if !slices.Equal(got, row.want) || directive != row.directive {
			t.Errorf("%q %q: %q, directive %d", row.words, row.begun, got, directive)
		}
	}
}

// The flags of another command that a command takes are found and completed, too.
func TestOtherFlagsHaveHelp(t *testing.T) {
	cmd, f := verb(cobra.ArbitraryArgs, nil)
	_, f.Other = load()
	const prompts = "Traffic: when requests are sent\n  --prompts N                 number of requests (default 1000)\n"
	if got, err := said(t, cmd, "--help=prompts"); got != prompts || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	if got, directive := (completion{accepted{f}}).complete(nil, []string{"--percentile-metrics"}, "ttft,"); !slices.Equal(got, []string{"ttft,tpot"}) || directive&cobra.ShellCompDirectiveNoSpace == 0 {
		t.Errorf("%q, directive %d", got, directive)
	}
	got, _ := completion{accepted{f}}.complete(nil, nil, "--p")
	if !slices.Contains(got, "--prompts\tnumber of requests") || slices.ContainsFunc(got, func(name string) bool { return strings.HasPrefix(name, "--format") }) {
		t.Errorf("%q", got)
	}
}

func TestArgumentsAreCompletedAsFiles(t *testing.T) {
	_, f := verb(cobra.ArbitraryArgs, nil)
	if got, directive := (completion{accepted{f}}).complete(nil, []string{"a"}, ""); got != nil || directive != cobra.ShellCompDirectiveDefault {
		t.Errorf("%q, directive %d", got, directive)
	}
	f.Extensions = []string{"yaml"}
	if got, directive := (completion{accepted{f}}).complete(nil, []string{"--quick"}, "x"); !slices.Equal(got, f.Extensions) || directive != cobra.ShellCompDirectiveFilterFileExt {
		t.Errorf("%q, directive %d", got, directive)
	}
}
