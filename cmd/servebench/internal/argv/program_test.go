package argv

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// program has the command load, and others.
func program() *Program {
	root := &cobra.Command{Use: "bench", Version: "1.0", SilenceErrors: true, SilenceUsage: true}
	cmd, _ := load()
	jobs := &cobra.Command{Use: "jobs", Short: "Print jobs", RunE: func(cmd *cobra.Command, args []string) error { return Unknown(cmd, args[0]) }}
	jobs.AddCommand(&cobra.Command{Use: "slurm", Run: func(*cobra.Command, []string) {}})
	root.AddCommand(cmd, jobs, &cobra.Command{Use: "server", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return &Program{Command: root, Usual: "load", Aliases: []Alias{{"other run", "load"}, {"version", "--version"}}}
}

func TestFirstWordsAreRouted(t *testing.T) {
	for _, row := range []struct{ line, want, said, err string }{
		{line: "", want: ""},
		{line: "load --rate 5", want: "load --rate 5"},
		{line: "server x", want: "server x"},
		{line: "--version", want: "--version"},
		{line: "-h", want: "-h"},
		{line: "__complete load ", want: "__complete load"},
		{line: "other run --rate 5", want: "load --rate 5", said: "bench other run is taken as bench load"},
		{line: "version", want: "--version"},
		{line: "laod", err: `unknown command "laod": did you mean bench load?`},
		{line: "frobnicate", err: `unknown command "frobnicate": bench has jobs, load`},
		{line: "other", err: `unknown command "other": bench has jobs, load`},
		{line: "--versoin", err: "unknown flag --versoin: did you mean --version?"},
		{line: "-version", err: "unknown flag -version: did you mean --version?"},
		{line: "--rate=5 x", err: "a command comes first: did you mean bench load --rate?"},
		{line: "--frobnicate", err: "unknown flag --frobnicate: a command comes first: see bench --help"},
		{line: "http://me:secret@host", err: "a URL is no command: did you mean bench load --base-url URL?"},
	} {
		got, said, err := program().Route(strings.Fields(row.line))
		switch {
		case row.err != "":
			if err == nil || err.Error() != row.err {
				t.Errorf("%s: %v", row.line, err)
			}
		case err != nil || !slices.Equal(got, strings.Fields(row.want)) || said != row.said:
			t.Errorf("%s: %q, said %q, %v", row.line, got, said, err)
		}
	}
}

// run executes a command line of the program.
func run(t *testing.T, line string) (string, error) {
	t.Helper()
	p := program()
	words, _, err := p.Route(strings.Fields(line))
	if err != nil {
		return "", err
	}
	return said(t, p.Command, words...)
}

func TestHelpCommandFindsCommandsAndTopics(t *testing.T) {
	for line, want := range map[string]string{
		"help load":         "Load a server, and say how it went.\n",
		"help load --help":  "Load a server, and say how it went.\n",
		"help load traffic": "Traffic: when requests are sent\n",
		"help load --rate":  "Traffic: when requests are sent\n  --rate ",
		"help jobs":         "Print jobs\n",
		"help jobs slurm":   "Usage:\n  bench jobs slurm",
		"help":              "Usage:\n  bench [command]\n",
	} {
		if got, err := run(t, line); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v\n%s", line, err, got)
		}
	}
	for line, want := range map[string]string{
		"help laod":        `unknown command "laod": did you mean bench load?`,
		"help load pelf":   `argument --help: nothing is found for "pelf": it takes all, a flag, a group (traffic, results), or a word of the help`,
		"jobs slrm":        `unknown command "slrm": did you mean bench jobs slurm?`,
		"completion bsh":   `unknown command "bsh": did you mean bench completion bash?`,
		"completion":       "completion needs one of bash, fish, powershell, zsh",
		"help jobs pbspro": `unknown command "pbspro": bench jobs has slurm`,
	} {
		if _, err := run(t, line); err == nil || err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// What cobra completes has the first sentence of a flag's text, and none of the
// backquotes with which pflag marks the argument.
func TestFlagNamesAreCompletedWithTheirFirstSentence(t *testing.T) {
	p := program()
	if _, _, err := p.Route(nil); err != nil {
		t.Fatal(err)
	}
	got, err := said(t, p.Command, cobra.ShellCompRequestCmd, "load", "--r")
	if err != nil || !strings.HasPrefix(got, "--rate\trequests per second\n:") {
		t.Errorf("%v\n%s", err, got)
	}
	got, err = said(t, p.Command, cobra.ShellCompRequestCmd, "help", "")
	if err != nil || !strings.Contains(got, "load\tLoad a server\n") || strings.Contains(got, "server\t") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestManualSaysWhatTheHelpSays(t *testing.T) {
	pages := map[string]string{}
	if err := program().Manual(func(name string, page []byte) error {
		pages[name] = string(page)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(pages) != 4 {
		t.Errorf("%d pages", len(pages))
	}
	for _, name := range []string{"bench", "bench-jobs", "bench-jobs-slurm"} {
		if !strings.Contains(pages[name], "\n.SH NAME\n"+strings.ReplaceAll(name, "-", `\-`)) {
			t.Errorf("%s:\n%s", name, pages[name])
		}
	}
	head, flags, _ := strings.Cut(pages["bench-load"], ".SH OPTIONS\n")
	if head != `.TH "BENCH-LOAD" 1 "" "bench 1.0" "User Commands"
.SH NAME
bench\-load \- Load a server
.SH SYNOPSIS
.B bench load [flags]
.SH DESCRIPTION
Load a server, and say
how it went.
.PP
.nf
  as it is
this stays
.fi
.SH EXAMPLES
.nf
  load \-\-rate 5
.fi
` {
		t.Error(head)
	}
	for _, want := range []string{
		".SS Traffic: when requests are sent\n.TP\n.B \\-\\-rate RATE\nrequests per second. inf sends all at once, which is the most that a server can be asked for (default 1)\n",
		".TP\n.B \\-\\-quiet\nsay nothing. Not even \\-q\\eo\n",
		".TP\n.B \\-\\-limit KEY:MS ...\n",
		"\n.SH SEE ALSO\nbench(1), bench\\-jobs(1), bench\\-jobs\\-slurm(1)\n",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("no %q in\n%s", want, flags)
		}
	}
	if got := escaped(".so /etc/passwd\n'x"); got != "\\&.so /etc/passwd\n\\&'x" {
		t.Errorf("requests are not escaped: %q", got)
	}
}
