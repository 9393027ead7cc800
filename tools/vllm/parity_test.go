//go:build vllm

package vllm_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An agreement is what came of a command line.
type agreement struct {
	argv        []string
	requests    int
	differences []string // on purpose
	same        bool
}

// after is the word after a flag of the command line, or what is meant without it.
func (a *agreement) after(flag, otherwise string) string {
	if i := slices.Index(a.argv, flag); i >= 0 {
		return a.argv[i+1]
	}
	return otherwise
}

// source is the dataset: of hf the repository, too.
func (a *agreement) source() string {
	dataset := a.after("--dataset-name", "random")
	if dataset == "hf" {
		return "hf: " + a.after("--hf-name", a.after("--dataset-path", ""))
	}
	return dataset
}

// parityTable has a row for each dataset and the backends that took it: how many command lines were the same,
// with how many requests, and in what they differ on purpose.
func parityTable(all []agreement) string {
	type row struct {
		dataset         string
		backends, what  []string
		lines, requests int
	}
	var rows []*row
	for _, a := range all {
		i := slices.IndexFunc(rows, func(r *row) bool { return r.dataset == a.source() })
		if i < 0 {
			i, rows = len(rows), append(rows, &row{dataset: a.source()})
		}
		r := rows[i]
		r.lines++
		r.requests += a.requests
		r.backends = append(r.backends, a.after("--backend", "openai"))
		r.what = append(r.what, a.differences...)
	}
	var b strings.Builder
	b.WriteString("| dataset | with the backends | lines | requests | differences on purpose |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s |\n", r.dataset, list(r.backends, ", "), r.lines, r.requests, cmp.Or(list(r.what, "; "), "none"))
	}
	return b.String()
}

// list are words, each once, in order.
func list(words []string, separator string) string {
	slices.Sort(words)
	return strings.Join(slices.Compact(words), separator)
}

// compareTable holds the table of docs/measured/vllm.md against this one. UPDATE=1 writes it.
func compareTable(t *testing.T, table string) {
	t.Helper()
	page := filepath.Join(folder, "../../docs/measured/vllm.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), "\n| dataset | with the backends |")
	_, tail, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("%s has no table of datasets and backends", page)
	}
	written := head + "\n" + table + "\n" + tail
	switch {
	case written == string(text):
	case os.Getenv("UPDATE") == "1":
		writeFile(t, page, []byte(written))
	default:
		t.Errorf("the table of %s is not this one; make vllm-oracle UPDATE=1 writes it:\n%s", page, table)
	}
}

func TestTableHasEachDatasetOnce(t *testing.T) {
	got := parityTable([]agreement{
		{argv: strings.Fields("--num-prompts 3"), requests: 3}, {argv: strings.Fields("--backend vllm"), requests: 4, differences: []string{"b", "a"}},
		{argv: strings.Fields("--dataset-name hf --dataset-path a/b --hf-name c/d"), requests: 5}, {argv: strings.Fields("--backend vllm"), requests: 1, differences: []string{"a"}},
	})
	want := "| dataset | with the backends | lines | requests | differences on purpose |\n|---|---|---|---|---|\n" +
		"| random | openai, vllm | 3 | 8 | a; b |\n| hf: c/d | openai | 1 | 5 | none |\n"
	if got != want {
		t.Errorf("%s", got)
	}
}
