package argv

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A help says what flags there are, and what they are for.
type help struct{ accepted }

// print prints the requested help.
func (h help) print(cmd *cobra.Command) error {
	if h.flags.topic != "" {
		return h.about(cmd, h.flags.topic)
	}
	if long := strings.TrimSpace(cmd.Long); long != "" {
		for _, paragraph := range strings.Split(long, "\n\n") {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", filled(paragraph))
		}
	}
	return h.overview(cmd)
}

// overview writes how a command is used: its examples, its common flags by their groups,
// and where the other flags are.
func (h help) overview(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	fmt.Fprintln(w)
	common := h.flags.common()
	if common == nil {
		writeFlags(w, h.flags.all(), whole)
		return nil
	}
	writeFlags(w, common, firstSentence)
	fmt.Fprintf(w, "\nMore help:\n")
	for _, line := range [][2]string{
		{"--help=all", fmt.Sprintf("all %d flags, with all that there is to know", len(h.flags.all()))},
		{"--help=GROUP", "the flags of a group: " + strings.ToLower(strings.Join(h.groups(), ", "))},
		{"--help=FLAG", "one flag, as --help=" + common[0].Name},
		{"--help=WORD", "the flags that have this word in their name or text"},
	} {
		entry(w, line[0], line[1])
	}
	return nil
}

// about writes the help about a topic: all, a group, a flag, or else a word to look for.
func (h help) about(cmd *cobra.Command, topic string) error {
	w := cmd.OutOrStdout()
	topic = strings.ToLower(strings.TrimSpace(topic))
	if topic == "all" {
		writeFlags(w, h.all(), whole)
		return nil
	}
	topic = strings.TrimLeft(strings.ReplaceAll(topic, "_", "-"), "-")
	found := h.search(topic)
	if found == nil {
		found = h.meaning(topic)
	}
	about := paragraphs(cmd.Long, topic)
	switch {
	case found != nil:
		writeFlags(w, found, whole)
	case about != nil:
		fmt.Fprintln(w, strings.Join(about, "\n\n"))
	default:
		groups := ""
		if names := h.groups(); names != nil {
			groups = " a group (" + strings.ToLower(strings.Join(names, ", ")) + "),"
		}
		return fmt.Errorf("argument --help: nothing is found for %q: it takes all, a flag,%s or a word of the help", topic,
			groups)
	}
	return nil
}

// meaning finds the flags that another word for them means: an old name of a flag, a percentile such
// as p99, a plural.
func (h help) meaning(topic string) (found []*pflag.Flag) {
	for _, dashes := range []string{"--", "-"} {
		for _, word := range strings.Fields(h.flags.Instead[dashes+topic]) {
			if flag := h.flags.Lookup(strings.TrimLeft(word, "-")); flag != nil && strings.HasPrefix(word, "--") {
				found = append(found, flag)
			}
		}
	}
	switch singular, plural := strings.CutSuffix(topic, "s"); {
	case found != nil || topic == "":
		return found
	case percentile.MatchString(topic):
		return h.search("percentile")
	case strings.HasSuffix(topic, "ies"):
		return h.search(strings.TrimSuffix(topic, "ies") + "y")
	case plural:
		return h.search(singular)
	case strings.HasSuffix(topic, "y"):
		return h.search(strings.TrimSuffix(topic, "y") + "ies")
	}
	return nil
}

// percentile is a percentile's name.
var percentile = regexp.MustCompile(`^p[0-9.]+$`)

// paragraphs are the parts of a text that have a word.
func paragraphs(text, word string) (found []string) {
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if word != "" && strings.Contains(strings.ToLower(paragraph), word) {
			found = append(found, paragraph)
		}
	}
	return found
}

// search finds the flags that a topic means: the flags of a group, else the flag with that
// name, else all flags with it in their name or text. Case does not matter.
func (h help) search(topic string) (found []*pflag.Flag) {
	texts := []func(*pflag.Flag) bool{
		func(flag *pflag.Flag) bool { return strings.EqualFold(GroupOf(flag), topic) },
		func(flag *pflag.Flag) bool { return flag.Name == topic || flag.Shorthand == topic },
		func(flag *pflag.Flag) bool {
			text := flag.Name + " " + strings.ReplaceAll(flag.Name, "-", " ") + " " + textOf(flag) + " " +
				strings.Join(flag.Annotations[choicesKey], " ")
			return strings.Contains(strings.ToLower(text), topic)
		},
	}
	candidates := h.flags.all()
	if h.flags.Other != nil {
		candidates = h.all()
	}
	for _, means := range texts {
		for _, flag := range candidates {
			if topic != "" && means(flag) {
				found = append(found, flag)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// groups are the names of the groups, in the order of their definition.
func (h help) groups() (names []string) {
	for _, flag := range h.flags.all() {
		if name := GroupOf(flag); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// writeFlags writes flags under the headings of their groups. of shortens the text of each.
func writeFlags(w io.Writer, flags []*pflag.Flag, of func(string) string) {
	title := ""
	for _, flag := range flags {
		heading := headingOf(flag)
		if heading == "" {
			heading = "Flags"
		}
		if heading != title {
			if title != "" {
				fmt.Fprintln(w)
			}
			title = heading
			fmt.Fprintln(w, title)
		}
		entry(w, headOf(flag), of(textOf(flag))+valuesOf(flag))
	}
}

// headOf is how one writes a flag.
func headOf(flag *pflag.Flag) string {
	head := "--" + flag.Name
	if flag.Shorthand != "" {
		head = "-" + flag.Shorthand + ", " + head
	}
	argument, _ := described(flag)
	if argument != "" {
		head += " " + argument
	}
	if has(flag, arityKey) && argument != "" {
		head += " …"
	}
	return head
}

// textOf is the description of a flag.
func textOf(flag *pflag.Flag) string {
	if flag.Name == "help" {
		return "show this help. --help=TOPIC is about a flag, a group or a word, --help=all about all flags"
	}
	_, text := described(flag)
	return strings.ReplaceAll(text, "\n", ". ")
}

// valuesOf is the possible values of a flag, and its default.
func valuesOf(flag *pflag.Flag) (text string) {
	if choices := flag.Annotations[choicesKey]; choices != nil {
		text += " (" + strings.Join(choices, ", ") + ")"
	}
	if value := fallback(flag); value != "" {
		text += " (default " + value + ")"
	}
	return text
}

// described are the name of a flag's argument and what the flag is for.
func described(flag *pflag.Flag) (argument, text string) {
	if named, ok := flag.Annotations[argumentKey]; ok {
		return strings.Join(named, ""), flag.Usage
	}
	argument, text = pflag.UnquoteUsage(flag)
	if strings.HasPrefix(flag.Usage, "`") {
		text = strings.TrimLeft(strings.TrimPrefix(text, argument), " ")
	}
	return argument, text
}

func whole(text string) string { return text }

// firstSentence is the text before the first full stop.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return first
}

// The help has lines of at most lineWidth columns. What an entry is about begins in
// column textColumn.
const (
	lineWidth  = 80
	textColumn = 30
)

// entry writes a head and its text.
func entry(w io.Writer, head, text string) {
	head = "  " + head
	space := textColumn - utf8.RuneCountInString(head)
	if space < 2 {
		head, space = head+"\n", textColumn
	}
	fmt.Fprintf(w, "%s%*s%s\n", head, space, "", wrapped(text, textColumn))
}

// filled is a paragraph in lines that fit, unless it has indented lines, which stay.
func filled(paragraph string) string {
	if strings.Contains("\n"+paragraph, "\n ") {
		return paragraph
	}
	return wrapped(paragraph, 0)
}

// wrapped is text in lines that end before lineWidth. All but the first are indented.
func wrapped(text string, indent int) string {
	var lines strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > lineWidth:
			lines.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			lines.WriteString(" ")
			column++
		}
		lines.WriteString(word)
		column += width
	}
	return lines.String()
}
