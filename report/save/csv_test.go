package save

import (
	"strings"
	"testing"
)

// A name that a server or a file of settings chose must not run in the spreadsheet of its reader.
func TestNoCellIsAFormula(t *testing.T) {
	var b strings.Builder
	err := CSV(&b, [][]string{
		{"=HYPERLINK(1)", "+1+1", "-cmd", "@SUM", "\t=1", "\r=1", "\n=1", "＝1"},
		{"", "a=1", "-1.5", "+2e9", "-inf", "NaN", "-", "8"},
	})
	const want = "'=HYPERLINK(1),'+1+1,'-cmd,'@SUM,'\t=1,\"'\r=1\",\"'\n=1\",'＝1\n,a=1,-1.5,+2e9,-inf,NaN,'-,8\n"
	if err != nil || b.String() != want {
		t.Errorf("%v\n%q, want\n%q", err, b.String(), want)
	}
}
