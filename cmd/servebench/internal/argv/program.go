package argv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Program is the root command. If the first word of a command line is not one of its commands, it
// says what the user may have meant.
type Program struct {
	*cobra.Command // add every other command before Route is called

	// Usual is the command that people mean most often.
	Usual string

	// Aliases are first words that mean others.
	Aliases []Alias
}

// An Alias is words at the start of a command line that mean others, such as the command of another
// program.
type Alias struct{ Words, Means string }

// Route returns the command line with aliases replaced. said is a message for the user about that,
// often empty.
func (p *Program) Route(words []string) (routed []string, said string, err error) {
	p.prepare()
	if len(words) > 1 && (words[0] == cobra.ShellCompRequestCmd || words[0] == cobra.ShellCompNoDescRequestCmd) {
		return append(words[:1:1], p.completed(words[1:])...), "", nil
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "__") || p.has(words[0]) {
		return words, "", nil
	}
	for _, alias := range p.Aliases {
		if n := len(strings.Fields(alias.Words)); len(words) >= n && strings.Join(words[:n], " ") == alias.Words {
			if !strings.HasPrefix(alias.Means, "-") {
				said = fmt.Sprintf("%s %s is taken as %[1]s %[3]s", p.Name(), alias.Words, alias.Means)
			}
			return append(strings.Fields(alias.Means), words[n:]...), said, nil
		}
	}
	if strings.HasPrefix(words[0], "-") {
		return words, "", p.strayFlag(words[0])
	}
	if strings.Contains(words[0], "://") { // it may hold a password
		return words, "", fmt.Errorf("a URL is no command: did you mean %s %s --base-url URL?", p.Name(), p.Usual)
	}
	return words, "", Unknown(p.Command, words[0])
}

// completed is a command line to complete, with an alias before its last word replaced.
func (p *Program) completed(words []string) []string {
	for _, alias := range p.Aliases {
		typed := strings.Fields(alias.Words)
		if n := len(typed); len(words) > n && slices.Equal(words[:n], typed) && !strings.HasPrefix(alias.Means, "-") {
			return append(strings.Fields(alias.Means), words[n:]...)
		}
	}
	return words
}

// prepare adds the commands that every program has, and completes its flags.
func (p *Program) prepare() {
	p.SetHelpCommand(p.helpCommand())
	p.InitDefaultHelpCmd()
	p.InitDefaultCompletionCmd()
	p.InitDefaultHelpFlag()
	p.InitDefaultVersionFlag()
	for _, cmd := range p.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				return Unknown(cmd, strings.Join(args[:min(1, len(args))], ""))
			}
		}
	}
	each(p.Command, func(cmd *cobra.Command) {
		if !cmd.DisableFlagParsing {
			return
		}
		if cmd.Flags().Lookup("help") == nil {
			cmd.Flags().BoolP("help", "h", false, "show this help")
		}
		cmd.Flags().VisitAll(plainUsage)
	})
}

// each visits a command and those below it.
func each(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		each(sub, visit)
	}
}

// plainUsage removes the argument's name from a flag's usage, up to the first line end, since
// cobra's completion shows it as it is.
func plainUsage(flag *pflag.Flag) {
	if has(flag, argumentKey) {
		return
	}
	argument, _ := described(flag)
	text := textOf(flag)
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[argumentKey] = []string{argument}
	flag.Usage = strings.Replace(text, ". ", "\n", 1)
}

// has reports whether a word is a command, or a flag of the program itself.
func (p *Program) has(word string) bool {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		return p.Flags().Lookup(name) != nil
	}
	if name, ok := strings.CutPrefix(word, "-"); ok {
		return len(name) == 1 && p.Flags().ShorthandLookup(name) != nil
	}
	return slices.ContainsFunc(p.Commands(), func(cmd *cobra.Command) bool { return cmd.Name() == word })
}

// strayFlag is the error for a flag in the place of a command.
func (p *Program) strayFlag(word string) error {
	name, _, _ := strings.Cut(Dashed("--"+strings.TrimLeft(word, "-")), "=")
	name = strings.TrimPrefix(name, "--")
	if near := Nearest(name, []string{"help", "version"}); near != "" {
		return fmt.Errorf("unknown flag %s: did you mean --%s?", word, near)
	}
	if cmd := child(p.Command, p.Usual); cmd != nil && cmd.Flags().Lookup(name) != nil {
		return fmt.Errorf("a command comes first: did you mean %s --%s?", cmd.CommandPath(), name)
	}
	return fmt.Errorf("unknown flag %s: a command comes first: see %s --help", word, p.Name())
}

// Unknown is the error for a word that is not a command below cmd, nil for an empty word.
func Unknown(cmd *cobra.Command, word string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			names = append(names, sub.Name())
		}
	}
	all := strings.Join(names, ", ")
	switch near := Nearest(word, names); {
	case word == "":
		return fmt.Errorf("%s needs one of %s", cmd.Name(), all)
	case near != "":
		return fmt.Errorf("unknown command %q: did you mean %s %s?", word, cmd.CommandPath(), near)
	}
	return fmt.Errorf("unknown command %q: %s has %s", word, cmd.CommandPath(), all)
}

// helpCommand makes the command that prints the help of others.
func (p *Program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "help [COMMAND [TOPIC]]",
		Short:              "Show the help of a command, or of one of its flags",
		DisableFlagParsing: true,
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, cmd := range p.Commands() {
				if cmd.IsAvailableCommand() {
					names = append(names, cmd.Name()+"\t"+cmd.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, words []string) error {
			cmd := p.Command
			for len(words) > 0 && !strings.HasPrefix(words[0], "-") {
				below := child(cmd, words[0])
				if below == nil {
					break
				}
				cmd, words = below, words[1:]
			}
			if len(words) > 0 && (words[0] == "-h" || words[0] == "--help") {
				words = words[1:]
			}
			switch topic := strings.Join(words, " "); {
			case cmd.DisableFlagParsing && cmd.RunE != nil && cmd.Name() != "help":
				if topic != "" {
					topic = "=" + topic
				}
				return cmd.RunE(cmd, []string{"--help" + topic})
			case topic != "":
				return Unknown(cmd, words[0])
			}
			return cmd.Help()
		},
	}
}

// child is the command of that name below cmd, nil for none.
func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}
