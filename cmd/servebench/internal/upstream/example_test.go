package upstream_test

import (
	"fmt"

	"github.com/servebench/servebench/cmd/servebench/internal/upstream"
)

func ExampleNamespace() {
	line := map[string][]string{"num-prompts": {"20"}, "save-result": {}}
	all, err := upstream.Namespace(func(flag string) ([]string, bool) { words, ok := line[flag]; return words, ok })
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"num_prompts", "save_result", "seed"} {
		value, _ := all.Get(name)
		fmt.Println(name, value)
	}
	// Output:
	// num_prompts 20
	// save_result true
	// seed 0
}
