package table_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset/table"
)

func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "questions.jsonl")
	if err := os.WriteFile(path, []byte("{\"question\": \"Why?\"}\n{\"question\": \"How?\"}\n"), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	t, err := table.Open([]string{path, path})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := t.Rows([]int{3, 0}, []string{"question"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range rows {
		question, _ := row.Get("question")
		fmt.Println(question)
	}
	fmt.Println(t.Len(), "rows")
	// Output:
	// How?
	// Why?
	// 4 rows
}
