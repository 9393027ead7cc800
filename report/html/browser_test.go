//go:build browser

package html

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

// browsers are the names under which Chromium is installed.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// browse opens a file in Chromium and gives what that writes to standard output
// and to its log.
func browse(t *testing.T, name string, args ...string) (out, log string) {
	t.Helper()
	var program string
	for _, b := range browsers {
		if path, err := exec.LookPath(b); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skipf("none of %s is installed", strings.Join(browsers, ", "))
	}
	args = append([]string{"--headless=new", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
		"--user-data-dir=" + t.TempDir(), "--virtual-time-budget=3000"}, args...)
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which refuses to work for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, program, append(args, "file://"+name)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// driver reads two values of each chart by the keyboard, and opens the first
// table of data.
const driver = `<script>
setTimeout(() => {
  document.documentElement.dataset.first = document.documentElement.dataset.drawn;
  document.querySelectorAll("details").forEach((d) => { d.open = true; });
  setTimeout(() => {
    let read = 0;
    for (const figure of document.querySelectorAll("figure")) {
      const place = figure.querySelector(".plot"), output = figure.querySelector("output");
      const press = (key) => { place.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); return output.textContent; };
      place.focus();
      if (document.activeElement === place && press("ArrowRight") !== "" && press("Home") !== press("End")) read++;
    }
    document.documentElement.dataset.read = read;
    document.documentElement.dataset.rows = document.querySelectorAll("details.data tr").length;
  }, 500);
}, 100);
</script>`

var attribute = regexp.MustCompile(` data-(\w+)="(\d+)"`)

// state are the numbers that the page and the driver leave in the root element.
func state(dom string) map[string]string {
	root := regexp.MustCompile(`<html[^>]*>`).FindString(dom)
	all := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(root, -1) {
		all[m[1]] = m[2]
	}
	return all
}

func TestBrowserShowsThePages(t *testing.T) {
	h := metrics.Header{Run: "one", Config: metrics.Config{Model: "a </script> model", Goodput: []metrics.SLO{{Metric: "ttft", Limit: 60}},
		Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{99}}}
	arm := func(name string, rate float64) Run {
		h := h
		h.Run, h.Config.RequestRate = fmt.Sprint(name, rate), rate
		h.Config.Metadata = []metrics.KV{{Key: "arm", Value: name}}
		h.Flags = []metrics.KV{{Key: "request-rate", Value: fmt.Sprint(rate)}}
		return run(h, int(20*rate), 20, "busy")
	}
	for name, runs := range map[string][]Run{
		"one":      {run(h, 40, 20, "busy")},
		"sessions": {talks(h, 60, 12)},
		"arms":     {arm("old", 2), arm("old", 4), arm("new", 2), arm("new", 4)},
		"millions": {run(h, 2000, 1112, "busy")},
	} {
		t.Run(name, func(t *testing.T) { show(t, name, write(t, runs...)) })
	}
}

// show opens a page, looks at what came of it, and leaves pictures.
func show(t *testing.T, name, page string) {
	folder := t.ArtifactDir()
	file, driven := filepath.Join(folder, name+".html"), filepath.Join(folder, name+"-driven.html")
	for path, text := range map[string]string{file: page, driven: strings.Replace(page, "</body>", driver+"</body>", 1)} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dom, log := browse(t, driven, "--dump-dom")
	if strings.Contains(log, "CONSOLE") {
		t.Errorf("the console says\n%s", log)
	}
	got := state(dom)
	figures := fmt.Sprint(strings.Count(page, "<figure"))
	// Those of single runs among several wait until somebody opens their section.
	shown, _, _ := strings.Cut(page, `<section id="single">`)
	first := fmt.Sprint(strings.Count(shown, "<figure"))
	for key, want := range map[string]string{"problems": "0", "resources": "0", "first": first, "drawn": figures, "read": figures} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if strings.Count(dom, "<canvas") != strings.Count(page, "<figure") || len(got["rows"]) < 3 {
		t.Errorf("%d canvases and %s rows of data", strings.Count(dom, "<canvas"), got["rows"])
	}
	for picture, args := range map[string][]string{
		"light":  {"--window-size=1280,4800"},
		"dark":   {"--window-size=1280,4800", "--blink-settings=preferredColorScheme=0"},
		"narrow": {"--window-size=500,4800"},
	} {
		browse(t, file, append(args, "--screenshot="+filepath.Join(folder, picture+".png"))...)
	}
	browse(t, file, "--blink-settings=preferredColorScheme=0", "--print-to-pdf="+filepath.Join(folder, "print.pdf"))
}
