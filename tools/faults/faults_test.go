package main

import (
	"errors"
	"flag"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var complete = flag.Bool("complete", false, "fail where a program that a row needs is missing, instead of skipping the row")

const page = "../../docs/measured/faults.md"

// lines are the page's rows by group and fault.
func lines(t *testing.T) (text string, rows map[[2]string]string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows = map[[2]string]string{}
	group := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if title, found := strings.CutPrefix(line, "## "); found {
			group = title
		} else if cells := strings.Split(line, " | "); len(cells) == 4 {
			rows[[2]string{group, strings.TrimPrefix(cells[0], "| ")}] = line
		}
	}
	return string(b), rows
}

// withoutFlags is a row without the flags that a test added to its case's.
func withoutFlags(line string, flags []string) string {
	if len(flags) == 0 {
		return line
	}
	added := strings.Join(flags, " ")
	return strings.Replace(strings.Replace(line, "; `"+added+"`", "", 1), " "+added+"`", "`", 1)
}

// TestThePageIsTrue tries each case again, over our own HTTP/1.1 and over net/http:
// what is claimed holds, and the page says just that.
func TestThePageIsTrue(t *testing.T) {
	text, rows := lines(t)
	// Interrupted, the cases end and leave nothing behind.
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	bin, err := build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cases, err := allCases(ctx, bin)
	if err != nil {
		t.Fatal(err)
	}
	var all []Row
	for _, c := range cases {
		want := rows[[2]string{c.Group, c.Fault}]
		all = append(all, Row{c, want})
		for name, flags := range map[string][]string{"": nil, ", over net/http": {"--transport", "net"}} {
			if c.Own && flags != nil {
				continue
			}
			tried := *c
			tried.Args = slices.Concat(c.Args, flags)
			t.Run(c.Group+"/"+c.Fault+name, func(t *testing.T) {
				if !c.Alone {
					t.Parallel()
				}
				if err := c.missing(); err != nil && *complete {
					t.Fatal(err)
				}
				row, err := tried.try(ctx, bin)
				if missing, ok := errors.AsType[errMissing](err); ok {
					t.Skip(missing)
				}
				if err != nil {
					t.Error(err)
				}
				if got := withoutFlags(row.Line, flags); got != want {
					t.Errorf("run make faults: the page has\n%s\nand now it is\n%s", want, got)
				}
			})
		}
	}
	if render(all) != text {
		t.Error("run make faults: the page has other text or rows than it would be written with")
	}
}
