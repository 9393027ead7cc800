package overview

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/plot"
)

var update = flag.Bool("update", false, "draw docs/pictures again")

// The pictures of the documentation are drawn from the records in testdata/pictures, which
// make pictures records again.
func TestPicturesOfTheDocsAreDrawnFromRecords(t *testing.T) {
	const records, docs = "../../testdata/pictures", "../../docs/pictures"
	for name, drawn := range map[string]map[string]string{"run": {"page.svg": "run.svg", "terminal.svg": "terminal.svg"}, "sweep": {"page.svg": "page.svg"}} {
		file, err := os.Open(filepath.Join(records, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		sums, err := stream.Read(file, metrics.Ask{Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		var runs []plot.Run
		for _, s := range sums {
			runs = append(runs, plot.Run{Summary: s, File: name + ".jsonl"})
		}
		pictures := map[string]string{}
		for picture, draw := range Pictures(runs, vllm.Version{}, "") {
			var b bytes.Buffer
			if err := draw(&b); err != nil {
				t.Fatal(err)
			}
			pictures[picture] = b.String()
		}
		for picture, kept := range drawn {
			file := filepath.Join(docs, kept)
			if *update {
				if err := os.WriteFile(file, []byte(pictures[picture]), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if pictures[picture] != string(want) {
				t.Errorf("%s is not as %s.jsonl has it: -update draws it again", file, name)
			}
		}
	}
}
