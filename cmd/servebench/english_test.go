package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// contributing is the page with the banned phrases.
const contributing = "CONTRIBUTING.md"

// A banned phrase is one that contributing has other words for.
type banned struct {
	phrase  string
	instead string
	pattern *regexp.Regexp // the phrase, also where a line of a comment or of a list ends in it
}

var bannedRow = regexp.MustCompile("(?m)^\\| ((?:`[a-z' ]+`(?:, )?)+) \\| ([^|]+) \\|$")

// bannedPhrases are the phrases of the page's table.
func bannedPhrases(t *testing.T, page string) (all []banned) {
	t.Helper()
	_, table, found := strings.Cut(page, "\n## Banned phrases\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range bannedRow.FindAllStringSubmatch(table, -1) {
		for _, phrase := range strings.Split(row[1], ", ") {
			phrase = strings.Trim(phrase, "`")
			pattern := `(?i)\b` + strings.ReplaceAll(phrase, " ", `[\s#>*]+`) + `\b`
			all = append(all, banned{phrase, row[2], regexp.MustCompile(pattern)})
		}
	}
	if !found || len(all) == 0 {
		t.Fatal(contributing + " bans no phrases")
	}
	return all
}

// A passage is a piece of text that people read, and where it is.
type passage struct {
	file string
	line int
	text string
}

// proseFolders have texts that people read.
var proseFolders = []string{".github", "cmd", "dataset", "docs", "examples", "loadgen", "metrics", "report", "tools"}

// prose are all texts of the repository that people read: pages, templates, scripts and
// configurations as a whole, and of Go the comments and the strings, but not of tests.
func prose(t *testing.T, root fs.FS) (all []passage) {
	t.Helper()
	listed := slices.Concat([]string{"Makefile", "action.yml"}, rootPages, docsPages(t, "../.."), listedExamples(t, "../.."))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "testdata" || entry.Name() == "uplot" || name != "." && path.Dir(name) == "." && !slices.Contains(proseFolders, name) {
				return fs.SkipDir
			}
			return nil
		}
		if top, _, nested := strings.Cut(name, "/"); (!nested || top == "docs" || top == "examples") && !slices.Contains(listed, name) {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(name, "_test.go"):
		case path.Ext(name) == ".go":
			all = append(all, goProse(t, name, text)...)
		case entry.Name() == "Makefile", slices.Contains([]string{".md", ".yaml", ".yml", ".sh", ".mk", ".tmpl", ".html", ".js"}, path.Ext(name)):
			page := string(text)
			if name == contributing { // it names the phrases
				page, _, _ = strings.Cut(page, "\n## Banned phrases\n")
			}
			if path.Ext(name) == ".md" {
				page = inlineCode.ReplaceAllString(page, "x")
			}
			all = append(all, passage{name, 1, page})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fileKey is a key in a file, as a parser looks for it.
var fileKey = regexp.MustCompile(`^"[a-z0-9_]+":$`)

// goProse are the comments and the strings of a Go file; strings that are added up are one.
func goProse(t *testing.T, name string, text []byte) (all []passage) {
	t.Helper()
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range syntax.Comments {
		all = append(all, passage{name, files.Position(group.Pos()).Line, group.Text()})
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil // keys in files stay
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				all = append(all, passage{name, files.Position(n.Pos()).Line, literalText(n)})
				return false
			}
		case *ast.BasicLit:
			if text := literalText(n); !fileKey.MatchString(text) {
				all = append(all, passage{name, files.Position(n.Pos()).Line, text})
			}
		}
		return true
	})
	return all
}

// literalText is the text of the string literals in a sum; a term that is none is a "%".
func literalText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return literalText(e.X) + literalText(e.Y)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	}
	return "%"
}

// TestEnglish holds three rules of plain English: no banned phrase, no
// sentence of a page and no help that has to be read twice.
func TestEnglish(t *testing.T) {
	page, err := os.ReadFile("../../" + contributing)
	if err != nil {
		t.Fatal(err)
	}
	found := breaches{}
	found.phrases(prose(t, os.DirFS("../..")), bannedPhrases(t, string(page)))
	found.sentences(frontPages(t))
	found.help(newProgram().Command)
	for where, all := range found {
		t.Errorf("%s: %s asks for other words:\n%s", where, contributing, strings.Join(all, "\n"))
	}
}

// breaches are what breaks a rule, by the rule and the file.
type breaches map[string][]string

func (f breaches) add(where, format string, a ...any) {
	f[where] = append(f[where], fmt.Sprintf(format, a...))
}

func (f breaches) phrases(all []passage, phrases []banned) {
	for _, p := range all {
		p.text = pageName.ReplaceAllString(p.text, "page")
		words := strings.ToLower(strings.Join(strings.FieldsFunc(p.text, betweenWords), " "))
		for _, b := range phrases {
			if !strings.Contains(words, b.phrase) { // most are nowhere, and this is much faster than a pattern
				continue
			}
			for _, at := range b.pattern.FindAllStringIndex(p.text, -1) {
				line := p.line + strings.Count(p.text[:at[0]], "\n")
				f.add("phrases "+p.file, "%s:%d: %q: %s", p.file, line, b.phrase, b.instead)
			}
		}
	}
}

// betweenWords says whether a rune may be between the words of a phrase.
func betweenWords(r rune) bool { return strings.ContainsRune(" \t\n\f\r#>*", r) }

const longestSentence = 40 // words of a page

var (
	fence       = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	pieces      = regexp.MustCompile(`(?m)\n\s*\n|^\s*(?:[-*#>]+|\d+\.)\s|\|`)
	pageName    = regexp.MustCompile(`\b[a-z0-9-]+\.md\b`) // a file has its name
	inlineCode  = regexp.MustCompile("`[^`\n]*`")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	sentenceEnd = regexp.MustCompile(`[.?!:][)*"]*\s+`)
)

// sentences are the sentences of a page's paragraphs, items and cells; code is one word.
func sentences(page string) (all []string) {
	page = inlineCode.ReplaceAllString(fence.ReplaceAllString(page, "\n\n"), "x")
	page = linkTarget.ReplaceAllString(page, "]")
	for _, piece := range pieces.Split(page, -1) {
		all = append(all, sentenceEnd.Split(piece, -1)...)
	}
	return all
}

func (f breaches) sentences(pages map[string]string) {
	for name, page := range pages {
		for _, s := range sentences(page) {
			if n := len(strings.Fields(s)); n > longestSentence {
				f.add("sentences "+name, "%d words, more than %d: %s", n, longestSentence, s)
			}
		}
	}
}

const longestHelp = 20 // words of the first sentence of a flag's or a command's help

var helpEnd = regexp.MustCompile(`[.;:] | \(`)

func (f breaches) help(cmd *cobra.Command) {
	short := func(what, help string) {
		if first := helpEnd.Split(help, 2)[0]; len(strings.Fields(first)) > longestHelp {
			f.add("help", "%s: the first sentence has more than %d words: %s", what, longestHelp, first)
		}
	}
	short(cmd.CommandPath(), cmd.Short)
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(flag)
		short(cmd.CommandPath()+" --"+flag.Name, usage)
	})
	for _, sub := range cmd.Commands() {
		f.help(sub)
	}
}

func TestSentencesAreFoundInMarkdown(t *testing.T) {
	page := "One two: three `a b. c`.\n\n- Four [five six](seven eight). Nine\n  ten\n- eleven\n\n```\nnot. this\n```\n| a b | c |\n"
	want := []string{"One two", "three x.", "Four [five six]", "Nine\n  ten", "eleven", "a b", "c"}
	var got []string
	for _, s := range sentences(page) {
		if s = strings.TrimSpace(s); s != "" {
			got = append(got, s)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A phrase is found where it goes over the end of a comment's line, and where two strings
// are added up.
func TestPhrasesAreFoundInGo(t *testing.T) {
	source := "package p\n\n// A run was given\n// up, not forgiven upwards.\nvar s = \"lay \" +\n\t`unread`\n"
	f := breaches{}
	f.phrases(goProse(t, "p.go", []byte(source)), bannedPhrases(t, "\n## Banned phrases\n| `given up`, `lay unread` | aborted |\n"))
	want := []string{`p.go:3: "given up": aborted`, `p.go:5: "lay unread": aborted`}
	if !slices.Equal(f["phrases p.go"], want) {
		t.Errorf("%q, want %q", f["phrases p.go"], want)
	}
}
