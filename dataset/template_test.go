package dataset

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/jinja"
)

func TestOpenTemplateRendersAPrompt(t *testing.T) {
	path := writeFile(t, "chat_template.jinja", `{{ messages[0].role }}: {{ messages[0].content }} ({{ mood }}, {{ strftime_now('%Y') }})`)
	kwargs, err := jinja.ParseKwargs(`{"mood": "calm"}`)
	if err != nil {
		t.Fatal(err)
	}
	render, err := OpenTemplate(filepath.Dir(path), kwargs, func() time.Time { return time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := render("hi"); err != nil || got != "user: hi (calm, 2026)" {
		t.Errorf("%q, %v", got, err)
	}
}

// The line in the template and the line in the dataset, each named once.
func TestTemplateThatRefusesIsToldWithBothLines(t *testing.T) {
	path := writeFile(t, "chat_template.jinja", "\n{{ raise_exception('no users') }}")
	render, err := OpenTemplate(filepath.Dir(path), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := writeFile(t, "rows.jsonl", letters)
	source, _, err := Custom{Options: Options{Path: rows, Template: render, DisableShuffle: true}, OutputLen: 1}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range source {
		if want := rows + ":1: chat template: line 2: the template refuses: no users"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
