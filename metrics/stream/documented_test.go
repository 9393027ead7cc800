package stream

import (
	"cmp"
	"flag"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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
	s.parse(t, "../samples/*.go")
	data, err := os.ReadFile(filesPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for kind, rows := range map[string]string{
		kindRun: s.rows("", "Header", shown), kindReq: s.requestRows(t), kindSample: s.rows("", "Sample", shown), kindEnd: s.rows("", "End", shown),
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
		if len(f.Names) == 0 {
			continue
		}
		key := ""
		if f.Tag != nil {
			key, _, _ = strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		}
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
var shown = []string{"ServerStart", "Wake", "Server", "GPU", "Pool", "stepPart", "Conn", "Payload", "ServerTimes", "blankPart"}

// requestRows are the rows of a request's line: of the table of a Record's fields.
func (s structs) requestRows(t *testing.T) string {
	t.Helper()
	comments := structs{}
	comments.parse(t, "../record/*.go")
	file, err := goparser.ParseFile(token.NewFileSet(), "../record/fields.go", nil, goparser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	tables := fieldTables{file, map[string]*ast.CompositeLit{}, comments}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			tables.rows[v.Names[0].Name] = v.Values[0].(*ast.CompositeLit)
		}
		return true
	})
	for name := range tables.rows {
		s[name] = tables.fields(name)
	}
	return s.rows("", "table", slices.Collect(maps.Keys(tables.rows)))
}

// fieldTables are the tables of a Record's fields in their source. A field has the comment above its row, or else that of
// the field of the Record that it is about.
type fieldTables struct {
	file     *ast.File
	rows     map[string]*ast.CompositeLit
	comments structs
}

func (all fieldTables) fields(table string) (documented []documentedField) {
	rows := all.rows[table]
	from, before := rows.Lbrace, ""
	for _, row := range rows.Elts {
		cells := row.(*ast.CompositeLit).Elts
		key, _ := strconv.Unquote(cells[0].(*ast.BasicLit).Value)
		f := documentedField{key: key, name: camel(key)}
		for _, c := range all.file.Comments {
			if from < c.Pos() && c.End() < row.Pos() {
				f.comment = strings.Join(strings.Fields(c.Text()), " ")
			}
		}
		from = row.End()
		if key == "" {
			continue
		}
		structure, name := subject(cells[2])
		for _, field := range all.comments[structure] {
			if field.name == name && f.comment == "" && name != before {
				f.name, f.comment = name, field.comment
			}
		}
		before = name
		ast.Inspect(cells[2], func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && all.rows[id.Name] != nil {
				f.structure = id.Name
			}
			return true
		})
		documented = append(documented, f)
	}
	return documented
}

// subject is the field of a part of a Record that a form reaches, with the type of the part; empty for what is computed.
func subject(form ast.Expr) (structure, field string) {
	if call, ok := form.(*ast.CallExpr); ok {
		if f, ok := call.Fun.(*ast.Ident); ok && (f.Name == "derived" || f.Name == "sign") {
			return "", ""
		}
	}
	ast.Inspect(form, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if path := pathOf(sel); len(path) > 0 {
				structure, field = "Record", path[0]
				if len(path) > 1 {
					structure, field = path[0], path[1]
				}
				return false
			}
		}
		return true
	})
	return cmp.Or(map[string]string{"Session": "Turn", "Server": "ServerTimes"}[structure], structure), field
}

// pathOf are the fields of r in a selection.
func pathOf(e ast.Expr) []string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == "r" {
			return []string{sel.Sel.Name}
		}
		if path := pathOf(sel.X); path != nil {
			return append(path, sel.Sel.Name)
		}
	}
	return nil
}

// camel is the name in Go that a key has.
func camel(key string) (name string) {
	for word := range strings.SplitSeq(key, "_") {
		if word != "" {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}

// rows are the rows of a struct's fields. Fields that share a comment share a row.
func (s structs) rows(prefix, name string, shown []string) string {
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
			rows = append(rows, s.rows(prefix+f.key+".", f.structure, shown))
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
