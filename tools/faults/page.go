package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// A Row is a case's line on the page.
type Row struct {
	*Case
	Line string
}

// row is the line of the table.
func (c *Case) row(o *Outcome) Row {
	how := c.How
	if len(c.Args) > 0 {
		how += "; `" + strings.Join(c.Args, " ") + "`"
	}
	return c.line(how, o.says(&c.Want), c.lost(o))
}

// untried is the line of a case that could not be tried.
func (c *Case) untried(why error) Row { return c.line(c.How, "not tried: "+why.Error(), "") }

func (c *Case) line(how, says, lost string) Row {
	return Row{c, fmt.Sprintf("| %s | %s | %s | %s |", c.Fault, how, says, lost)}
}

// lost says how many requests were lost, and what else.
func (c *Case) lost(o *Outcome) string {
	lost := "nothing"
	switch n := requests - o.completed(); {
	case !o.begun():
		lost = "the run: it does not begin"
	case n == requests:
		lost = fmt.Sprintf("all of %d requests", n)
	case n > 0:
		lost = fmt.Sprintf("%d of %d requests", n, requests)
	}
	if c.Lost == "" {
		return lost
	}
	return strings.TrimPrefix(lost+"; "+c.Lost, "nothing; ")
}

// quote makes text fit for a cell.
func quote(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}

// head is the page before its tables.
//
//go:embed head.md
var head string

// render is the page.
func render(rows []Row) string {
	var b strings.Builder
	b.WriteString(head)
	group := ""
	for _, r := range rows {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n## %s\n\n| fault | how | what servebench says | what is lost |\n|---|---|---|---|\n", group)
		}
		b.WriteString(r.Line + "\n")
	}
	return b.String()
}
