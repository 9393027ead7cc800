package main

import (
	"strings"
	"testing"
)

// In 20 trials, fewer than what a true rate of 5 % may make are wrong.
func TestTablesOfFewTrials(t *testing.T) {
	var text strings.Builder
	if err := run(&text, []string{"-trials", "20", "-noise", "^iid 1 %", "-design", "^paired$|sequential"}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if fields := strings.Count(line, "|") - 1; fields > 0 && fields != 11 && fields != 13 {
			t.Errorf("%d fields: %s", fields, line)
		}
	}
	if headings, rows := strings.Count(text.String(), "## "), strings.Count(text.String(), "| iid 1 % |"); headings != 4 || rows != 4 {
		t.Errorf("%d headings and %d rows about iid 1 %% in\n%s", headings, rows, text.String())
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"-noise", "("}, {"-design", "("}, {"-trials", "many"}} {
		if err := run(new(strings.Builder), args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
