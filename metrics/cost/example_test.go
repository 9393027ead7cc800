package cost_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/cost"
)

func Example() {
	var m cost.Meter
	for second, watts := range []float64{100, 500, 500, 100} {
		m.Add(0, time.Duration(second)*time.Second, &watts, nil)
	}
	e := m.Curve().Energy(time.Second, 3*time.Second)
	fmt.Printf("%.0f J, %.0f W, %.1f J per token\n", e.Joules, e.Watts(), e.PerToken(2000))
	fmt.Printf("$%.2f per million tokens\n", cost.PerMillion(cost.Price(3.60).Dollars(1, e.Seconds), 2000))
	// Output:
	// 800 J, 400 W, 0.4 J per token
	// $1.00 per million tokens
}
