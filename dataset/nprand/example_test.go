package nprand_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset/nprand"
)

// The same draws as in Python:
//
//	numpy.random.default_rng(42).integers(0, 32000, 2)
//	numpy.random.seed(42); numpy.random.gamma(1, 0.1)
//	random.seed(42); random.choices(range(100), k=5)
//	numpy.random.seed(0); numpy.random.random()
//	random.seed(0); random.random()
func Example() {
	generator := nprand.NewGenerator(42)
	for range 2 {
		fmt.Println(generator.Integers(0, 32000))
	}
	fmt.Println(nprand.NewRandomState(42).Gamma(1, 0.1))
	fmt.Println(nprand.NewPython(42).Choices(100, 5))
	fmt.Println(nprand.NewRandomState(0).Random())
	fmt.Println(nprand.NewPython(0).Random())
	// Output:
	// 2856
	// 24766
	// 0.04692680899768591
	// [63 2 27 22 73]
	// 0.5488135039273248
	// 0.8444218515250481
}
