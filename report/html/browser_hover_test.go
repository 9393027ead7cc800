//go:build browser

package html

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/overview"
	"github.com/servebench/servebench/report/plot"
)

var resultAttribute = regexp.MustCompile(`(?s)<html[^>]* data-result="([^"]*)"`)

// ask opens a page in a window of that size, runs a script once the charts are drawn, and
// decodes into result what the script returns.
func ask(t *testing.T, page string, width, height int, script string, result any) {
	t.Helper()
	folder := t.TempDir()
	inner, outer := filepath.Join(folder, "page.html"), filepath.Join(folder, "frame.html")
	script = fmt.Sprintf(`<script>addEventListener("load", () => setTimeout(async () => {
  parent.postMessage(JSON.stringify(await (async () => { %s })()), "*");
}, 300));</script></body>`, script)
	// A window of Chromium is at least 500 pixels wide, a frame is not.
	frame := fmt.Sprintf(`<!DOCTYPE html><html><body style="margin:0"><script>
addEventListener("message", (e) => { document.documentElement.dataset.result = e.data; });
</script><iframe src="file://%s" style="width:%dpx;height:%dpx;border:0"></iframe></body></html>`, inner, width, height)
	for name, text := range map[string]string{inner: strings.Replace(page, "</body>", script, 1), outer: frame} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dom, log := browse(t, outer, fmt.Sprintf("--window-size=%d,%d", max(width, 500), height+50), "--dump-dom")
	found := resultAttribute.FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("the page returned nothing: %s\n%.500s", log, dom)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), result); err != nil {
		t.Fatalf("%v in %s", err, found[1])
	}
}

// pageOf is a page with one chart.
func pageOf(t *testing.T, c plot.Chart) string {
	t.Helper()
	p := newPage()
	p.front(&overview.Front{Title: "one chart", Chart: &c})
	var b strings.Builder
	if err := pageTemplate().Execute(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// mouse has what a script needs to move the mouse over the only chart: to a place between
// its ends, with the legend afterwards; and to drag from one place to another.
const mouse = `
const u = document.querySelector("figure").plot, box = u.over.getBoundingClientRect();
const point = (type, x) => (type === "mouseup" ? document : u.over).dispatchEvent(
  new MouseEvent(type, { bubbles: true, button: 0, movementX: 1, clientX: box.left + u.valToPos(x, "x"), clientY: box.top + box.height / 2 }));
const hover = (x) => {
  point("mousemove", x);
  return [...document.querySelectorAll(".u-legend .u-value")].map((v) => v.textContent);
};
const drag = (from, to) => { point("mousemove", from); point("mousedown", from); point("mousemove", to); point("mouseup", to); };
const drawn = () => new Promise((done) => setTimeout(done, 50));
const range = (scale) => [u.scales[scale].min, u.scales[scale].max];
`

func TestBrowserHoverShowsTheValuesAtThatPlaceAlone(t *testing.T) {
	c := plot.Chart{Name: "c", X: plot.Axis{Title: "x", Max: 10}, Y: plot.Axis{Title: "y", Max: 100}, Series: []plot.Series{
		{Name: "long", Style: plot.Line, X: plot.Numbers{0, 10}, Y: plot.Numbers{0, 100}},
		{Name: "short", Style: plot.Line, X: plot.Numbers{0, 4}, Y: plot.Numbers{0, 40}},
		{Name: "steps", Style: plot.Step, X: plot.Numbers{0, 5, 10}, Y: plot.Numbers{1, 2, 2}},
		{Name: "path", Style: plot.Path, X: plot.Numbers{8, 2}, Y: plot.Numbers{80, 20}},
	}}
	var got [][]string
	ask(t, pageOf(t, c), 1280, 800, mouse+`return [2, 4, 5, 8, 10].map(hover);`, &got)
	want := [][]string{
		{"2", "20", "20", "1", "20"}, {"4", "40", "40", "1", "–"}, {"5", "50", "–", "2", "–"}, {"8", "80", "–", "2", "80"}, {"10", "100", "–", "2", "–"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestBrowserZoomOfTimeFitsTheHeight(t *testing.T) {
	line := plot.Series{Name: "line", Style: plot.Line}
	bars := plot.Series{Name: "bars", Style: plot.Bars, Thick: 1}
	for i := range 11 {
		x := float64(i)
		y := 100 + x
		if i < 6 {
			y = 1000
		}
		line.X, line.Y = append(line.X, x), append(line.Y, y)
		bars.X, bars.Y, bars.To = append(bars.X, x), append(bars.Y, x), append(bars.To, x+0.5)
	}
	for _, test := range []struct {
		series           plot.Series
		most             float64
		least, mostAfter float64
	}{{line, 1050, 106.84, 109.16}, {bars, 11, 6, 10}} {
		c := plot.Chart{Name: "c", X: plot.Axis{Title: "x", Max: 10}, Y: plot.Axis{Title: "y", Max: test.most}, Series: []plot.Series{test.series}}
		var got [][]float64
		ask(t, pageOf(t, c), 1280, 800, mouse+`
drag(6.6, 9.4);
await drawn();
const zoomed = range("y");
point("dblclick", 5);
await drawn();
return [zoomed, range("y"), range("x")];`, &got)
		want := fmt.Sprintf("[%.2f %.2f] [0.00 %.2f] [0.00 10.00]", test.least, test.mostAfter, test.most)
		if found := fmt.Sprintf("%.2f %.2f %.2f", got[0], got[1], got[2]); found != want {
			t.Errorf("%s: %s, want %s", test.series.Name, found, want)
		}
	}
}

func TestBrowserLogAxisHasSeveralLabels(t *testing.T) {
	for _, ends := range [][2]float64{{95, 190}, {3, 9000}, {0.11, 0.19}, {150, 151}} {
		c := plot.Chart{Name: "c", X: plot.Axis{Title: "x", Max: 1}, Y: plot.Axis{Title: "y", Scale: plot.Log, Min: ends[0], Max: ends[1]},
			Series: []plot.Series{{Name: "s", Style: plot.Line, X: plot.Numbers{0, 1}, Y: plot.Numbers{ends[0], ends[1]}}}}
		var got []string
		ask(t, pageOf(t, c), 1280, 800, mouse+`const axis = u.axes[1]; return axis.values(u, axis.splits(u, 1, ...range("y")));`, &got)
		if len(got) < 3 {
			t.Errorf("from %g to %g: %q", ends[0], ends[1], got)
		}
	}
}

// The first screen has the verdict and the chart, and on a phone at least the first rows of
// the table. The first column stays when a reader scrolls the widest table.
func TestBrowserFirstScreen(t *testing.T) {
	h := metrics.Header{Run: "one", Config: metrics.Config{Model: "small-chat", NumPrompts: 40, RequestRate: 10, Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{50, 90, 99}}}
	arm := func(name string, repeat int) Run {
		h := h
		h.Run = fmt.Sprint(name, repeat)
		h.Config.Metadata = []metrics.KV{{Key: "arm", Value: name}}
		return run(h, 40, 20, "busy")
	}
	target := func(name string, solo bool) Run {
		h := h
		h.Run, h.Target, h.Group, h.Solo = fmt.Sprint(name, solo), name, "g", solo
		return run(h, 40, 5, "x")
	}
	arms := []Run{arm("old", 1), arm("new", 1), arm("old", 2), arm("new", 2), arm("old", 3), arm("new", 3), arm("old", 4), arm("new", 4)}
	for name, runs := range map[string][]Run{
		"one": {run(h, 40, 20, "busy")}, "arms": arms, "many": append(arms, arm("other", 1), arm("other", 2), arm("other", 3)),
		"targets": {target("a", true), target("b", true), target("a", false), target("b", false)},
	} {
		for _, size := range [][2]int{{1280, 800}, {390, 844}} {
			var got struct{ Verdict, Chart, Top, Bottom, Wide, Slide float64 }
			ask(t, write(t, runs...), size[0], size[1], `
const box = (selector) => document.querySelector(selector).getBoundingClientRect();
const wide = document.querySelector("#runs .scroll");
let slide = 0;
if (wide) {
  const cell = wide.querySelector("tbody th"), before = cell.getBoundingClientRect().left;
  wide.scrollLeft = 1e6;
  slide = wide.scrollLeft > 0 ? before - cell.getBoundingClientRect().left : -1;
}
const verdicts = document.querySelectorAll("#front .verdict");
return { Verdict: verdicts[verdicts.length - 1].getBoundingClientRect().bottom, Chart: box("#front .u-wrap").bottom, Top: box("#front dl, #front table").top,
  Bottom: box("#front dl, #front .scroll").bottom, Wide: document.documentElement.scrollWidth, Slide: slide };`, &got)
			high := float64(size[1])
			if got.Verdict > high/2 || got.Chart > high || got.Top > high/2 || got.Bottom > high || got.Wide > float64(size[0]) || got.Slide != 0 {
				t.Errorf("%s on %v: %+v", name, size, got)
			}
		}
	}
}
