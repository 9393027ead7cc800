package sequential

import "math"

// integral is the integral of a smooth function by the rule of Gauss and Legendre.
func integral(from, to float64, f func(float64) float64) float64 {
	if to <= from {
		return 0
	}
	sum, half := 0.0, (to-from)/2
	for _, node := range nodes {
		sum += node.weight * f(from+half*(1+node.at))
	}
	return half * sum
}

// A node is a place between −1 and 1 at which integral evaluates.
type node struct{ at, weight float64 }

var nodes = legendre(40)

// legendre are the roots of the Legendre polynomial of a degree with their weights, by Newton's
// method (P. Davis and P. Rabinowitz, "Methods of Numerical Integration", 2.7).
func legendre(degree int) []node {
	found := make([]node, degree)
	for i := range found {
		x, slope := math.Cos(math.Pi*(float64(i)+0.75)/(float64(degree)+0.5)), 0.0
		for range 10 {
			before, value := 1.0, x
			for k := 2; k <= degree; k++ {
				before, value = value, (float64(2*k-1)*x*value-float64(k-1)*before)/float64(k)
			}
			slope = float64(degree) * (x*value - before) / (x*x - 1)
			x -= value / slope
		}
		found[i] = node{x, 2 / ((1 - x*x) * slope * slope)}
	}
	return found
}
