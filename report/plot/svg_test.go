package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

var update = flag.Bool("update", false, "write the golden files anew")

// texts reads an SVG as XML and gives the texts in it.
func texts(t *testing.T, svg []byte) (all []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			all = append(all, string(text))
		}
	}
}

func TestEveryChartIsDrawn(t *testing.T) {
	w := usual
	w.fail = 4
	runs := []Run{w.run(metrics.Header{Target: "</text><script>"}), usual.run(metrics.Header{Target: "b"})}
	Label(runs)
	chapters := append(Comparison(runs), Single(runs[0], 2)...)
	chapters = append(chapters, Chapter{Charts: sweep(grid())})
	n := 0
	for _, chapter := range chapters {
		for _, c := range chapter.Charts {
			var b bytes.Buffer
			if err := SVG(&b, &c); err != nil {
				t.Fatal(err)
			}
			all := texts(t, b.Bytes())
			want := []string{c.Title, c.X.Title, c.Y.Title}
			for _, s := range c.Series {
				want = append(want, s.Name)
			}
			for _, l := range c.Limits {
				want = append(want, l.Name)
			}
			for _, text := range want {
				if !slices.Contains(all, text) {
					t.Errorf("%s does not say %q", c.Name, text)
				}
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Errorf("%s has numbers that are none:\n%s", c.Name, b.String())
			}
			n++
		}
	}
	if n < 30 {
		t.Errorf("only %d charts", n)
	}
}

func TestSVGIsAsBefore(t *testing.T) {
	c := Chart{Name: "small", Title: "Small & <plain>", X: Axis{Title: "x (s)"}, Y: Axis{Title: "y (ms)", Scale: Log},
		Series: []Series{{Name: "line", Style: Path, X: Numbers{0, 1, 2}, Y: Numbers{1, 30, 200}}, {Name: "front", Style: Wide, Color: Neutral, X: Numbers{0, 2}, Y: Numbers{1, 200}}},
		Limits: []Limit{{"SLO 100 ms", 100, false}}}
	c.fit(true)
	var got bytes.Buffer
	if err := SVG(&got, &c); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/small.svg"
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

func TestTicksAreRoundAndInside(t *testing.T) {
	for _, test := range []struct {
		axis Axis
		want []string
	}{
		{Axis{Max: 1}, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{Axis{Min: 0, Max: 1234}, []string{"0", "500", "1000"}},
		{Axis{Scale: Log, Min: 3, Max: 110}, []string{"5", "10", "20", "50", "100"}},
		{Axis{Scale: Log, Min: 0.5, Max: 20000}, []string{"1", "10", "100", "1000", "10000"}},
		{Axis{Scale: Log, Min: 95, Max: 190}, []string{"100", "120", "140", "160", "180"}},
		{Axis{Scale: Percentile, Max: 3.2}, []string{"0", "50", "90", "99", "99.9"}},
		{Axis{Scale: Category, Min: -0.5, Max: 1.5, Names: []string{"4", "inf"}}, []string{"4", "inf"}},
	} {
		var got []string
		for _, tick := range test.axis.ticks(5) {
			got = append(got, tick.text)
			if tick.at < test.axis.Min || tick.at > test.axis.Max {
				t.Errorf("%g is outside %+v", tick.at, test.axis)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.axis, got, test.want)
		}
	}
}

func TestLinesStopWhereNothingIsKnown(t *testing.T) {
	nan := math.NaN()
	s := Series{Style: Line, X: Numbers{0, 1, 2, 3, 4}, Y: Numbers{1, 1, nan, 1, nan}}
	c := Chart{Series: []Series{s}, X: Axis{Max: 4}, Y: Axis{Max: 1}}
	p := svg{Chart: &c, width: 720, height: 440}
	if got, want := p.path(&s), "M76.0 0.0L232.0 0.0M544.0 0.0h2"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
	s.Style, s.Y = Step, Numbers{0, 1, nan, 1, 1}
	if got, want := p.path(&s), "M76.0 384.0H232.0L232.0 0.0M544.0 0.0H700.0L700.0 0.0"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
}

// Long names below a plot would cover each other.
func TestLongNamesBelowAPlotSlope(t *testing.T) {
	c := &Chart{X: Axis{Scale: Category, Max: 3}, Y: Axis{Max: 1}}
	draw := func() string {
		var b strings.Builder
		if err := SVG(&b, c); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	c.X.Names = []string{"a", "b", "c"}
	if text := draw(); strings.Contains(text, "rotate(-30") {
		t.Error("short names slope")
	}
	long := strings.Repeat("long ", 8)
	c.X.Names = []string{long, long, long}
	if text := draw(); strings.Count(text, "rotate(-30") != 3 || strings.Contains(text, long) {
		t.Error("long names lie in a row")
	}
}
