package window_test

import (
	"fmt"

	"github.com/servebench/servebench/cmd/servebench/internal/window"
)

func Example() {
	part, err := window.Parse("20s:110s")
	fmt.Println(part.From, part.To, err)
	_, err = window.Parse("20s:10s")
	fmt.Println(err)
	width, err := window.ParseSlice("10s")
	fmt.Println(width, err)
	// Output:
	// 20s 1m50s <nil>
	// invalid window: '20s:10s': it must end after it begins
	// 10s <nil>
}
