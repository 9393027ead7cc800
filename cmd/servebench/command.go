package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// loadCommand makes a verb that takes the flags of `vllm bench serve`. They are
// read by our own rules, so cobra knows them for help and completion only.
func loadCommand(cmd *cobra.Command, do func(context.Context, *options) error) *cobra.Command {
	_, t := newForm()
	for f := range t.all() {
		if f.missing == "" {
			known := cmd.Flags().VarPF(shown{f}, f.name, f.short, f.help)
			if f.args == none {
				known.NoOptDefVal = "true"
			}
		}
	}
	cmd.DisableFlagParsing = true
	cmd.ValidArgsFunction = t.complete
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\nUsage:\n  %s\n", cmd.Long, cmd.UseLine())
		t.help(cmd.OutOrStdout())
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := parseRun(args)
		switch {
		case errors.Is(err, pflag.ErrHelp):
			return cmd.Help()
		case err != nil:
			return err
		}
		hideArguments(o.Server.Secrets)
		return do(cmd.Context(), o)
	}
	return cmd
}

// shown is a flag as cobra sees it: it is never set.
type shown struct{ *flag }

func (s shown) String() string {
	if s.args == none {
		return "false"
	}
	return s.fallback
}

func (s shown) Type() string {
	if s.args == none {
		return "bool"
	}
	return s.meta
}

func (s shown) Set(string) error { return errors.New("flags are read by parseRun") }

// help lists the flags, a line for each and the refused ones in one paragraph.
func (t table) help(w io.Writer) {
	const width = 34
	for _, g := range t {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		var refused []string
		for _, f := range g.flags {
			if f.missing != "" {
				refused = append(refused, "--"+f.name)
				continue
			}
			head := f.usage()
			if len(head) > width {
				head += "\n" + strings.Repeat(" ", width)
			}
			fmt.Fprintf(w, "%-*s  %s\n", width, head, f.describe())
		}
		wrap(w, refused)
	}
}

// usage is the flag as one writes it: "  -o, --record-to FILE".
func (f *flag) usage() string {
	text := "      --" + f.name
	if f.short != "" {
		text = "  -" + f.short + ", --" + f.name
	}
	switch f.args {
	case none:
		return text
	case one:
		return text + " " + f.meta
	}
	return text + " " + f.meta + " …"
}

// describe is the flag's help with what it may be and its default.
func (f *flag) describe() string {
	text := f.help
	if f.choices != nil {
		text += " (" + strings.Join(f.choices, ", ") + ")"
	}
	if f.fallback != "" {
		text += " (default " + f.fallback + ")"
	}
	return text
}

func wrap(w io.Writer, words []string) {
	line := " "
	for i, word := range words {
		line += " " + word
		if i == len(words)-1 || len(line)+len(words[i+1]) > 98 {
			fmt.Fprintln(w, line)
			line = " "
		}
	}
}

// complete offers the words that a flag's argument may be, or else files. Names
// of flags are cobra's to complete.
func (t table) complete(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		if f := t.lookup(args[len(args)-1]); f != nil && f.choices != nil {
			return f.choices, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil, cobra.ShellCompDirectiveDefault
}
