package main

import (
	"fmt"
	"strings"
)

// A Row is what came of a case, as the page shows it.
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

const head = `# What if it goes wrong?

Servers refuse, stall, break off and lie; proxies batch, time out and answer in HTML; disks fill. Each row below is a fault that servebench was tried against, what it said, and what was lost. A failed request is data: it is counted under a class of its own, with its message, and spoils no latency but its own. What did not fail keeps its numbers.

The page is written by ` + "`make faults`" + `, which starts the servers and proxies, breaks them, runs servebench against them and holds what comes out against what is claimed; ` + "`make faults-check`" + ` does it again and fails where a row has become another. Ports and figures that vary from run to run are left out.

The run is always this one, with the flags that a row names beside it:

` + "```" + `
$ servebench sim --step-base 10ms
$ servebench run --base-url URL --num-prompts 20 --random-input-len 10 --random-output-len 20 --prompt-token-ids --metric-percentiles 90 -o run.jsonl
` + "```" + `

*Nothing* under what servebench says means that the verdict has nothing against the server: the numbers are right. What the verdict says of the machine that it runs on (see [Can the numbers be believed?](trust.md)) is left out here. The exit code is 0 where none is named. Where more than 5 % of the requests failed, the verdict is SUSPECT for that, too, and where all did the exit code is 1.
`

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
