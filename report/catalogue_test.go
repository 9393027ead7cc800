package report

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// The table of numbers in the docs is the catalogue's.
func TestTheDocsHaveTheCatalogue(t *testing.T) {
	const name, head = "../docs/metrics.md", "| key | unit | what it is | in `compare` |\n|---|---|---|---|\n"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(data), head)
	if !found {
		t.Fatalf("%s has no table of numbers", name)
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	var rows strings.Builder
	for i, n := range catalogue.Numbers() {
		if i > 0 && n.Latency != "" && catalogue.Numbers()[i-1].Latency == n.Latency {
			continue // another statistic of it
		}
		compared := ""
		if slices.ContainsFunc(numbers.All(), func(c metrics.Number) bool { return c.Name == n.Name }) {
			compared = "`" + n.Name + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", n.Key, n.Unit, n.About, compared)
	}
	page := before + head + rows.String() + after
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(data) {
		t.Errorf("%s differs from the catalogue: go test ./report -update", name)
	}
}

// Whoever asks for the list can give each of its keys, and sees what it is.
func TestTheCatalogueHasEachNumberOnce(t *testing.T) {
	var text strings.Builder
	if err := Catalogue(&text); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, n := range catalogue.Numbers() {
		if names[n.Key] || n.Name != n.Key && names[n.Name] || n.Key == "" || n.Label == "" || n.Head == "" || n.About == "" {
			t.Errorf("%q, %q: not the only one, or without words", n.Name, n.Key)
		}
		names[n.Key] = true
		if n.Name != "" {
			names[n.Name] = true
		}
		if got, known := catalogue.Find(n.Key); !known || got.Key != n.Key {
			t.Errorf("%s is %q, %v", n.Key, got.Key, known)
		}
		if !strings.Contains("\n"+text.String(), "\n"+n.Key+" ") && !strings.Contains(text.String(), "\n"+n.Key+"\n") {
			t.Errorf("the list lacks %s", n.Key)
		}
	}
	for line := range strings.Lines(text.String()) {
		if len([]rune(line)) > 81 || strings.HasSuffix(line, " \n") {
			t.Errorf("%q", line)
		}
	}
	for name, key := range map[string]string{"p95_itl": "p95_itl_ms", "p99.9_ttft_ms": "p99.9_ttft_ms", "sql/p50_e2el": "sql/p50_e2el_ms", "sql/output_throughput": "sql/output_tokens_per_s"} {
		if n, known := catalogue.Find(name); !known || n.Key != key {
			t.Errorf("%s is %q, %v", name, n.Key, known)
		}
	}
	for _, name := range []string{"", "p101_ttft", "p99_ttf", "sql/median_job", "ttft", "/p99_ttft"} {
		if n, known := catalogue.Find(name); known {
			t.Errorf("%s is %q", name, n.Key)
		}
	}
}
