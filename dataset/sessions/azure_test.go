package sessions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func TestAzureExpandsAsWorkedOut(t *testing.T) {
	for _, sample := range []string{"azure-2023.csv", "azure-2024.csv"} {
		d := Azure{Options: dataset.Options{Path: filepath.Join("testdata", sample), VocabSize: 1000}}
		checkExpansion(t, sample, collect(t, d.Open), nil)
	}
}

const azureRows = "GeneratedTokens,TIMESTAMP,X,ContextTokens\n2,2023-11-16T18:15:50,x,7\n\n0,2023-11-16 18:15:40,x,7\n3,2023-11-16 19:15:49+01:00,x,8\n4,2023-11-16 18:15:50Z,x,9"

func TestAzureRowsOutOfOrderAreSorted(t *testing.T) {
	var said []string
	d := Azure{Options: dataset.Options{Path: "f.csv", VocabSize: 1000, Log: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}}
	source, n, err := d.read(strings.NewReader(azureRows))
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	var got []string
	for _, c := range pull(t, source) {
		turn, err := c.Prompted(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(c.ID, " ", *c.Due, " ", len(turn.TokenIDs), " ", turn.OutputLen))
	}
	if want := []string{"row-5 0 8 3", "row-2 1 7 2", "row-6 1 9 4"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	if want := []string{"f.csv: 1 of 4 rows have no tokens to send or none in the answer: left out"}; !slices.Equal(said, want) {
		t.Errorf("notices %q, want %q", said, want)
	}
	d.Num = 2
	if source, n, err := d.read(strings.NewReader(azureRows)); err != nil || n != 2 || len(pull(t, source)) != 2 {
		t.Error(n, err)
	}
}

func TestBadAzureIsNamedWithItsLine(t *testing.T) {
	const head = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,3,4\n"
	for text, want := range map[string]string{
		"TIMESTAMP,ContextTokens\n":           `f.csv:1: no column "GeneratedTokens"`,
		head + "2023-11-16 18:15:46,3":        "f.csv:3: 2 columns: fewer than in the first line",
		head + "\nyesterday,3,4":              `f.csv:4: TIMESTAMP is "yesterday": must be a time such as 2023-11-16 18:15:46.6805900`,
		head + "2023-11-16 18:15:46,-3,4":     `f.csv:3: ContextTokens is "-3": must be at least 0 and below 2²⁸`,
		head + "2023-11-16 18:15:46,3,4.5":    `f.csv:3: GeneratedTokens is "4.5": must be at least 0 and below 2²⁸`,
		head + strings.Repeat(" ", 5000):      "f.csv:3: a line of more than 4096 bytes is no row of this form",
		"":                                    "f.csv: no row has a request with an answer",
		head[:40] + "2023-11-16 18:15:46,3,0": "f.csv: no row has a request with an answer",
	} {
		_, _, err := Azure{Options: dataset.Options{Path: "f.csv", VocabSize: 9}}.read(strings.NewReader(text))
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func FuzzAzure(f *testing.F) {
	f.Add(sampleText(f, "azure-2023.csv"))
	f.Add(sampleText(f, "azure-2024.csv"))
	f.Add(azureRows)
	f.Fuzz(func(t *testing.T, text string) {
		source, n, err := Azure{Options: dataset.Options{Path: "f.csv", VocabSize: 9}}.read(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.csv:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		checkSessions(t, source, n)
	})
}
