package stream

import (
	"cmp"
	"flag"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/files.md")

// filesPage has tables of the lines of a stream, which begin with such heads.
const filesPage = "../../docs/files.md"

// The tables of lines in the docs are the code's: the keys, and the comments of their fields.
func TestTheDocsHaveTheFields(t *testing.T) {
	s := structs{}
	s.parse(t, "*.go")
	s.parse(t, "../*.go")
	data, err := os.ReadFile(filesPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for kind, rows := range map[string]string{
		kindRun: s.rows("", "Header"), kindReq: s.requestRows(), kindSample: s.rows("", "Sample"), kindEnd: s.rows("", "End"),
	} {
		head := "| field of `" + kind + "` | content |\n|---|---|\n"
		before, after, found := strings.Cut(page, head)
		if !found {
			t.Fatalf("%s has no table of %s", filesPage, kind)
		}
		for strings.HasPrefix(after, "|") {
			_, after, _ = strings.Cut(after, "\n")
		}
		page = before + head + rows + after
	}
	if *update {
		if err := os.WriteFile(filesPage, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(data) {
		t.Errorf("%s differs from the code: go test ./metrics/stream -update", filesPage)
	}
}

// A documentedField is a field of a struct with a key in JSON.
type documentedField struct {
	name, key, comment string
	structure          string // its type, if that is a struct of these packages
}

// structs are the structs of the sources, by name.
type structs map[string][]documentedField

func (s structs) parse(t *testing.T, pattern string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := goparser.ParseFile(token.NewFileSet(), name, nil, goparser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if body, ok := spec.Type.(*ast.StructType); ok {
					s[spec.Name.Name] = documentedFields(body)
				}
			}
			return true
		})
	}
}

func documentedFields(body *ast.StructType) (all []documentedField) {
	for _, f := range body.Fields.List {
		if f.Tag == nil || len(f.Names) == 0 {
			continue
		}
		key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		if key == "-" {
			continue
		}
		text := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
		all = append(all, documentedField{name: f.Names[0].Name, key: key, comment: text, structure: structure(f.Type)})
	}
	return all
}

// structure is the name of a field's type, without its package and what holds it.
func structure(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return structure(e.X)
	case *ast.ArrayType:
		return structure(e.Elt)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// shown are the structs whose fields have rows below the row of the struct.
var shown = []string{"ServerStart", "Wake", "ServerSample", "GPUSample", "PoolSample", "stepPart", "Conn", "Payload", "ServerTimes", "blankPart"}

// requestRows are the rows of a request's line, in the order of its members.
func (s structs) requestRows() string {
	s["stepPart"] = s.merged(keys(stepFields), "stepPart", "Turn")
	s["request"] = s.merged(keys(lineFields), "reqLine", "Record")
	return s.rows("", "request")
}

func keys[T any](fields []field[T]) (all []string) {
	for _, f := range fields {
		all = append(all, strings.Trim(f.name, `":`))
	}
	return all
}

// merged are the fields with these keys in two structs: in the first, or else in the second, and the first comment.
func (s structs) merged(keys []string, names ...string) (all []documentedField) {
	for _, key := range keys {
		found := documentedField{key: key}
		for _, name := range names {
			for _, f := range s[name] {
				if f.key == key {
					found = documentedField{f.name, f.key, cmp.Or(found.comment, f.comment), cmp.Or(found.structure, f.structure)}
				}
			}
		}
		all = append(all, found)
	}
	return all
}

// rows are the rows of a struct's fields. Fields that share a comment share a row.
func (s structs) rows(prefix, name string) string {
	var rows []string
	for _, f := range s[name] {
		code := "`" + prefix + f.key + "`"
		nested := slices.Contains(shown, f.structure)
		if f.comment == "" && !nested && len(rows) > 0 {
			rows[len(rows)-1] = strings.Replace(rows[len(rows)-1], " | ", ", "+code+" | ", 1)
			continue
		}
		rows = append(rows, "| "+code+" | "+s.described(name, f)+" |\n")
		if nested {
			rows = append(rows, s.rows(prefix+f.key+".", f.structure))
		}
	}
	return strings.Join(rows, "")
}

// described is the first sentence of a field's comment as a page has it: fields have their keys as names.
func (s structs) described(name string, f documentedField) string {
	text := regexp.MustCompile("^"+f.name+" (is|are|says that|says) ").ReplaceAllString(f.comment, "")
	text, _, _ = strings.Cut(strings.TrimSuffix(strings.ReplaceAll(text, "nil", "absent"), "."), ". ")
	for _, other := range s[name] {
		text = regexp.MustCompile(`([^.] |^)\b`+other.name+`\b`).ReplaceAllString(text, "$1`"+other.key+"`")
		text = regexp.MustCompile(`\b`+other.name+` (says|is|are) `).ReplaceAllString(text, "`"+other.key+"` $1 ")
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
