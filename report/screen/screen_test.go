package screen

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

func TestOnlyTerminalsHaveWidthAndColours(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := Of(f); s != (Screen{}) {
		t.Errorf("a file is %+v", s)
	}
	if s := Of(new(bytes.Buffer)); s != (Screen{}) || s.IsTerminal() {
		t.Errorf("a buffer is %+v", s)
	}
}

func TestTonesAreColoursWhereThereAreColours(t *testing.T) {
	line := Line{{"ok", Good}, {Text: " and "}, {"more", Faint}}
	for color, want := range map[bool]string{false: "ok and more\n", true: "\x1b[1;32mok\x1b[0m and \x1b[2mmore\x1b[0m\n"} {
		var out bytes.Buffer
		if err := (Screen{Width: 80, Color: color}).Write(&out, line); err != nil || out.String() != want {
			t.Errorf("%q, %v", out.String(), err)
		}
	}
}

func TestItemsFitTheirWidth(t *testing.T) {
	text := Span{Text: "P99 of 60 samples: the maximum (TTFT, TPOT) ≥ 14.17 ms"}
	for width := 20; width < 80; width++ {
		for _, line := range Item(Span{Text: "Note:"}, 9, width, text, Span{Text: "words of another tone", Tone: Strong}) {
			if n := utf8.RuneCountInString(line.String()); n > width {
				t.Errorf("%d characters in %d columns: %q", n, width, line)
			}
		}
	}
	if lines := Item(Span{Text: "lag"}, 4, 10, Span{Text: "12 and 9 ms"}); len(lines) != 2 || lines[1].String() != "    9 ms" {
		t.Errorf("a number without its unit: %q", lines)
	}
	if lines := Item(Span{Text: "Note:"}, 9, 0, text); len(lines) != 1 || lines[0].String() != "Note:    "+text.Text {
		t.Errorf("without a width: %q", lines)
	}
}
