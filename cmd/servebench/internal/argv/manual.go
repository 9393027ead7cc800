package argv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manual writes the manual pages of the program and its commands, all of section 1, from their
// help. The pages use the man macros of roff. cobra/doc takes help for Markdown, so it breaks the lines of YAML in
// it, and it knows no groups of flags.
func (p *Program) Manual(write func(name string, page []byte) error) error {
	p.prepare()
	var errs []error
	each(p.Command, func(cmd *cobra.Command) {
		if shown(cmd) {
			errs = append(errs, write(manualName(cmd), p.page(cmd)))
		}
	})
	return errors.Join(errs...)
}

// shown reports whether a command is meant for people, and not added by cobra.
func shown(cmd *cobra.Command) bool {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return false
		}
	}
	return true
}

// manualName is the name of a command's page.
func manualName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page is the page of a command.
func (p *Program) page(cmd *cobra.Command) []byte {
	m := new(manual)
	fmt.Fprintf(m, ".TH %q 1 %q %q %q\n", strings.ToUpper(manualName(cmd)), "", p.Name()+" "+p.Version, "User Commands")
	m.section("NAME")
	m.text(manualName(cmd) + " - " + cmd.Short)
	m.section("SYNOPSIS")
	fmt.Fprintf(m, ".B %s\n", escaped(cmd.UseLine()))
	m.section("DESCRIPTION")
	m.lines(cmd.Long)
	if cmd.Example != "" {
		m.section("EXAMPLES")
		m.verbatim(cmd.Example)
	}
	if flags := (Definitions{cmd.Flags()}).all(); len(flags) > 0 {
		m.section("OPTIONS")
		m.flags(flags)
	}
	var others []string
	each(p.Command, func(other *cobra.Command) {
		if other != cmd && shown(other) {
			others = append(others, manualName(other)+"(1)")
		}
	})
	m.section("SEE ALSO")
	m.text(strings.Join(others, ", "))
	return m.Bytes()
}

// A manual is a page that is being written.
type manual struct{ bytes.Buffer }

func (m *manual) section(name string) { fmt.Fprintf(m, ".SH %s\n", name) }

// text writes a paragraph, which is filled.
func (m *manual) text(text string) { fmt.Fprintln(m, escaped(text)) }

// lines writes indented lines of a text verbatim, and fills the others.
func (m *manual) lines(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			fmt.Fprintln(m, ".PP")
		}
		if strings.Contains("\n"+paragraph, "\n ") {
			m.verbatim(paragraph)
			continue
		}
		m.text(paragraph)
	}
}

// verbatim writes a text without filling it.
func (m *manual) verbatim(text string) { fmt.Fprintf(m, ".nf\n%s\n.fi\n", escaped(text)) }

// flags writes flags under the headings of their groups.
func (m *manual) flags(flags []*pflag.Flag) {
	title := ""
	for _, flag := range flags {
		if heading := headingOf(flag); heading != title {
			title = heading
			fmt.Fprintf(m, ".SS %s\n", escaped(heading))
		}
		fmt.Fprintf(m, ".TP\n.B %s\n", escaped(headOf(flag)))
		m.text(textOf(flag) + valuesOf(flag))
	}
}

// escaped is text in which roff finds no request, no escape and no hyphen.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
