package screen

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
			if n := Width(line.String()); n > width {
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

func TestTextThatStaysWhole(t *testing.T) {
	lines := Item(Span{Text: "More:"}, 6, 30, Span{Text: "servebench report " + Whole("'my  run of  monday.jsonl'")})
	if len(lines) != 2 || lines[1].String() != "      'my  run of  monday.jsonl'" {
		t.Errorf("%q", lines)
	}
}

func TestWidthIsInColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本語": 6, "ﾊﾝｶｸ": 4, "e\u0301": 1, "🙂": 2, "…→×": 3} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := Pad("日本", 6); got != "日本  " {
		t.Errorf("%q", got)
	}
	for columns, want := range []string{"", "…", "…", "日…", "日…", "日本a"} {
		if got := Cut("日本a", columns); got != want || Width(got) > columns {
			t.Errorf("in %d columns: %q, want %q", columns, got, want)
		}
	}
}

// A word of Chinese, Japanese or Korean takes two columns for each character.
func TestWideWordsFitToo(t *testing.T) {
	for _, line := range Item(Span{Text: "模型:"}, 6, 20, Span{Text: "模型不存在 请求失败 模型不存在 请求失败"}) {
		if n := Width(line.String()); n > 20 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A text may come from a server or a recording: it must not command the terminal.
func TestTextCannotCommandTheTerminal(t *testing.T) {
	const text = "a\x1b[31mRED\x1b]0;title\a \u202eb\x7f\x9b\u0085é👩\u200d💻"
	const clean = "a�[31mRED�]0;title� �b���é👩\u200d💻"
	if got := Clean(text + "\n"); got != clean+"�" {
		t.Errorf("%q", got)
	}
	if got := CleanLines("\t" + text + "\n"); got != "\t"+clean+"\n" {
		t.Errorf("%q", got)
	}
	var out bytes.Buffer
	if err := (Screen{}).Write(&out, Item(Span{Text: "x:\x1b"}, 4, 0, Span{Text: "a\nVALID: b" + text})...); err != nil || out.String() != "x:� a VALID: b"+clean+"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestLongLinesOfATextAreWrappedOnATerminal(t *testing.T) {
	const text = "short\ttab\n- an item of a list that is too long\n* name      unit   a row of a table stays\n  indented and too long as well\n"
	for width, want := range map[int]string{
		0:  text,
		24: "short    tab\n- an item of a list that\n  is too long\n* name      unit   a row of a table stays\n  indented and too long\n  as well\n",
	} {
		var got strings.Builder
		if err := (Screen{Width: width}).Say(&got, text); err != nil || got.String() != want {
			t.Errorf("width %d: %q, %v; want %q", width, &got, err, want)
		}
	}
}
