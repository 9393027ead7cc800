package draw_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/draw"
)

// What was drawn before for other keys does not matter.
func Example() {
	lengths, err := draw.ParseDist("uniform:min=10,max=20")
	if err != nil {
		fmt.Println(err)
		return
	}
	for session := range 3 {
		fmt.Println(lengths.Whole(draw.Keyed(7, "lengths", session), 1))
	}
	// Output:
	// 13
	// 15
	// 15
}
