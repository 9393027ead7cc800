package html

import (
	"regexp"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
)

func TestBlocksOfADocumentStandOnThePage(t *testing.T) {
	blocks := []*published.Block{{Document: "doc.md", Number: 2, Runs: "<without>", Count: 2, Notes: []string{"the loads differ"},
		Numbers: []published.Number{{Name: "mean_ttft", Unit: "ms", Document: 20, Here: 30, Least: 29, Most: 31, Ratio: 1.5}}}}
	h := metrics.Header{Config: metrics.Config{RequestRate: 10, Percentiles: []float64{99}}}
	for name, of := range map[string][]Run{"one": {run(h, 20, 5, "")}, "two": {run(h, 20, 5, ""), run(h, 30, 5, "")}} {
		var page strings.Builder
		if err := Write(&page, of, "", blocks...); err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile(`(?s)<h2>Against the document</h2>.*<th scope="row">2</th><td>&lt;without&gt;</td><td>mean TTFT ms</td><td>20.00</td><td>30.00</td><td>1.50</td><td>29.00 … 31.00</td>.*<li>block 2, &lt;without&gt;: the loads differ</li>`)
		if !row.MatchString(page.String()) {
			t.Errorf("%s: the table is not on the page", name)
		}
		for _, chart := range []string{`"name":"against-ratios"`, `"name":"against-mean-ttft"`, `{"name":"document","style":"path","color":-1,"xs":[0],"ys":[20]},{"name":"this machine","style":"path","color":0,"xs":[0],"ys":[30]}`} {
			if !strings.Contains(page.String(), chart) {
				t.Errorf("%s: no %s on the page", name, chart)
			}
		}
	}
}
