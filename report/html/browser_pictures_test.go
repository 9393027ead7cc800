//go:build browser

package html

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/screen"
)

// mostBytes is how large a picture of the documentation may be.
const mostBytes = 150_000

// terminalPage is a terminal on a page. A text has the code of its color as a terminal gets it.
const terminalPage = `<!doctype html><meta charset="utf-8"><style>
body{margin:0;background:#0f1318;color:#e4e8ee}
pre{margin:18px;font:14px/19px "DejaVu Sans Mono",monospace}
[data-code^="1"]{font-weight:700}[data-code="2"]{color:#9aa5b1}
[data-code="1;31"]{color:#ff8a80}[data-code="1;32"]{color:#7ee2a0}[data-code="1;33"]{color:#ffc46b}
</style><pre>%s</pre>`

var colored = regexp.MustCompile("\x1b\\[([1-9;]+)m(.*?)\x1b\\[0m")

// terminal is a page with what a terminal shows at the end of a run, and the number of its lines.
func terminal(t *testing.T, s *metrics.Summary) (page string, lines int) {
	t.Helper()
	var b strings.Builder
	ending := report.Ending{Screen: screen.Screen{Width: 90, Color: true}, More: "add --extended"}
	if err := errors.Join(vllm.Block(&b, s, vllm.Version{}), ending.Write(&b, s)); err != nil {
		t.Fatal(err)
	}
	text := colored.ReplaceAllString(template.HTMLEscapeString(b.String()), `<span data-code="$1">$2</span>`)
	return fmt.Sprintf(terminalPage, text), strings.Count(text, "\n")
}

// It writes docs/pictures, so only make pictures runs it.
func TestTakePictures(t *testing.T) {
	text, lines := terminal(t, recorded(t, "run.jsonl")[0].Summary)
	take(t, "terminal.png", text, image.Pt(800, 19*lines+36))
	take(t, "page.png", write(t, recorded(t, "sweep.jsonl")...), image.Pt(1400, 640))
}

// take shows a page in Chromium and keeps its beginning as a picture of that size.
func take(t *testing.T, name, page string, size image.Point) {
	t.Helper()
	folder := t.TempDir()
	file, shot := filepath.Join(folder, "page.html"), filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	// The window is higher, because a part of it is the browser's own.
	browse(t, file, fmt.Sprintf("--window-size=%d,%d", size.X, size.Y+200), "--screenshot="+shot)
	taken, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	whole, err := png.Decode(taken)
	if err != nil {
		t.Fatal(err)
	}
	picture := image.NewPaletted(image.Rectangle{Max: size}, palette(whole))
	draw.Draw(picture, picture.Rect, whole, whole.Bounds().Min, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	if b.Len() > mostBytes {
		t.Fatalf("%s has %d bytes, more than %d", name, b.Len(), mostBytes)
	}
	if err := os.WriteFile(filepath.Join("../../docs/pictures", name), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// palette are the most frequent colors of a picture, at most 256.
func palette(picture image.Image) (colors color.Palette) {
	counts := map[color.Color]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			counts[picture.At(x, y)]++
		}
	}
	for c := range counts {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.Color) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return colors[:min(len(colors), 256)]
}
