package save_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/report/save"
)

// Write a file that is there whole or not at all.
func ExampleReplace() {
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "result.json")
	err = save.Replace(name, 0o666, func(w io.Writer) error {
		_, err := io.WriteString(w, `{"completed": 100}`)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(name)
	fmt.Println(string(text), err)
	// Output: {"completed": 100} <nil>
}
