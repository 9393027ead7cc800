package published_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/verdict"
)

func TestNotesSayInWhatTheLoadsDiffer(t *testing.T) {
	alike := metrics.Config{RequestRate: 10, MaxConcurrency: 8}
	suspect := run(100, time.Millisecond, alike)
	suspect.Trust = &verdict.Trust{Verdict: verdict.Suspect}
	broken := run(99, time.Millisecond, alike)
	broken.Failed = 1
	for _, row := range []struct {
		name string
		run  *metrics.Summary
		want []string
	}{
		{"alike", run(100, time.Millisecond, alike), []string{}},
		{"prompts", run(10, time.Millisecond, alike), []string{"the loads differ: 10 prompts here, 100 in the document"}},
		{"rate", run(100, time.Millisecond, metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 8}),
			[]string{"the loads differ: request rate inf here, 10 in the document"}},
		{"slots", run(100, time.Millisecond, metrics.Config{RequestRate: 10}),
			[]string{"the loads differ: max concurrency not given here, 8 in the document"}},
		{"suspect", suspect, []string{"1 of 1 run: SUSPECT"}},
		{"failures", broken, []string{"1 of 100 requests failed"}},
	} {
		if b := published.New(blocks(document)[0], row.name, []*metrics.Summary{row.run}); !slices.Equal(b.Notes, row.want) {
			t.Errorf("%s: %q, want %q", row.name, b.Notes, row.want)
		}
	}
	longer := blocks(document)[0]
	longer.Totals.Input = 2000
	b := published.New(longer, "", []*metrics.Summary{run(100, time.Millisecond, alike)})
	if want := "the loads differ: 10 prompt tokens a request here, 20 in the document"; len(b.Notes) != 1 || b.Notes[0] != want {
		t.Errorf("%q, want %q", b.Notes, want)
	}
}

func TestWhatTheDocumentStatesIsShown(t *testing.T) {
	for want, config := range map[string]metrics.Config{
		"GPU and model not stated":   {},
		"GPU not stated, model m":    {Model: "m"},
		"GPU H100, model not stated": {Metadata: []metrics.KV{{Key: "gpu", Value: "H100"}}},
		"GPU H100, model m":          {Model: "m", Metadata: []metrics.KV{{Key: "gpu", Value: "H100"}}},
	} {
		block := blocks(document)[0]
		block.Header.Config.Model, block.Header.Config.Metadata = config.Model, config.Metadata
		if b := published.New(block, "", []*metrics.Summary{run(1, time.Millisecond, metrics.Config{})}); b.Stated() != want {
			t.Errorf("%q, want %q", b.Stated(), want)
		}
	}
}

func TestSimulatedRunsAreCalledSo(t *testing.T) {
	dry := metrics.Config{Metadata: []metrics.KV{{Key: metrics.SimulatedKey, Value: "yes"}}}
	real := metrics.Config{}
	for want, configs := range map[string][]metrics.Config{"simulated": {dry, dry}, "this machine": {dry, real}} {
		var runs []*metrics.Summary
		for _, c := range configs {
			runs = append(runs, run(1, time.Millisecond, c))
		}
		if b := published.New(blocks(document)[0], "", runs); b.Here() != want {
			t.Errorf("%v: %q, want %q", configs, b.Here(), want)
		}
	}
}

func TestAFolderKeepsItsBlocks(t *testing.T) {
	dir := t.TempDir()
	if none, err := published.ReadFolder(dir); none != nil || err != nil {
		t.Errorf("%v, %v from an empty folder", none, err)
	}
	b := published.New(blocks(document)[0], "one arm", []*metrics.Summary{run(7, time.Millisecond, metrics.Config{})})
	var first, second bytes.Buffer
	if err := published.Write(&first, []*published.Block{b}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, published.FileName)
	if err := os.WriteFile(name, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := published.ReadFolder(dir)
	if err != nil || published.Write(&second, again) != nil || first.String() != second.String() {
		t.Errorf("%v: read back\n%s\nof\n%s", err, &second, &first)
	}
	if err := os.WriteFile(name, first.Bytes()[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := published.ReadFolder(dir); err == nil {
		t.Error("a torn file has no error")
	}
}
