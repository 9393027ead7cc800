//go:build oracle

package jinja

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
)

// TestOracle renders the cases that testdata/oracle.py wrote to the file named by
// TEMPLATE_CASES, and wants the texts that jinja2 gave. Where jinja2 gave none,
// any error will do.
func TestOracle(t *testing.T) {
	f, err := os.Open(os.Getenv("TEMPLATE_CASES"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type tally struct{ cases, refusedByBoth, refused, different int }
	families := make(map[string]*tally)
	var order []string
	for decoder := json.NewDecoder(f); ; {
		var c struct {
			Family string
			given
			vector
		}
		if err := decoder.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if families[c.Family] == nil {
			families[c.Family] = new(tally)
			order = append(order, c.Family)
		}
		count := families[c.Family]
		count.cases++
		got, err := c.render(c.Template)
		switch {
		case err != nil && c.Want == nil:
			count.refusedByBoth++
		case err != nil:
			count.refused++
			t.Errorf("%s: %v", c.Family, err)
		case c.Want == nil || got != *c.Want:
			count.different++
			t.Errorf("%s: different text for %.200q, %.200q with %.200s: %.200q", c.Family, c.Template, c.Messages, c.Kwargs, got)
		}
	}
	var all tally
	for _, family := range order {
		c := families[family]
		t.Logf("%-50s %4d cases, %3d refused by both, %d refused, %d different", family, c.cases, c.refusedByBoth, c.refused, c.different)
		all.cases, all.refusedByBoth = all.cases+c.cases, all.refusedByBoth+c.refusedByBoth
		all.refused, all.different = all.refused+c.refused, all.different+c.different
	}
	t.Logf("%d families, %d cases, %d refused by both, %d refused, %d different", len(order), all.cases, all.refusedByBoth, all.refused, all.different)
}
