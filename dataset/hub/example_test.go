package hub_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset/hub"
)

func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	for _, name := range []string{"train.jsonl", "test.jsonl", "README.md"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("{}\n"), 0o666); err != nil {
			fmt.Println(err)
			return
		}
	}
	place, err := hub.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := place.Split(hub.Subset{}, "test")
	fmt.Println(len(files), filepath.Base(files[0]), err)
	// Output: 1 test.jsonl <nil>
}
