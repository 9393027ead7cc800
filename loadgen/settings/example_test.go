package settings_test

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/loadgen/settings"
)

func Example() {
	w := settings.Workload{Dataset: "random", NumPrompts: 100}
	t := settings.Traffic{RequestRate: math.Inf(1), Duration: time.Minute}
	fmt.Println(t.AtOnce(&w), t.Timed(&w), t.Endless(&w))
	t.Counted = true
	fmt.Println(t.AtOnce(&w), t.Timed(&w), t.Endless(&w))
	// Output:
	// true true true
	// true false false
}
