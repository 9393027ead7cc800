package elastic_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/sim/elastic"
)

// Two servers share six pages, without spare ones.
func Example() {
	model, err := elastic.Parse("pages=6,blocks=64,reserve=0-0,map=2ms")
	if err != nil {
		panic(err)
	}
	memory := elastic.NewMemory(model)
	a, _ := memory.Open("", nil)
	b, _ := memory.Open("", nil)
	defer a.Close()
	defer b.Close()
	fmt.Println(a.Use(300))
	fmt.Println(b.Use(100))
	fmt.Println(b.Use(64))
	// Output:
	// 10ms true
	// 0s false
	// 2ms true
}
