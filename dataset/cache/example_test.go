package cache_test

import (
	"fmt"
	"path/filepath"

	"github.com/servebench/servebench/dataset/cache"
)

func Example() {
	environment := map[string]string{"HF_HOME": "$DATA/hf", "DATA": "/data"}
	folders := cache.Of(func(name string) (string, bool) {
		value, set := environment[name]
		return value, set
	})
	fmt.Println(filepath.ToSlash(folders.Model("org/name")))
	fmt.Println(filepath.ToSlash(folders.Dataset("openai/gsm8k")))
	_, err := cache.Snapshot(folders.Model("org/name"))
	fmt.Println(err != nil)
	// Output:
	// /data/hf/hub/models--org--name
	// /data/hf/hub/datasets--openai--gsm8k
	// true
}
