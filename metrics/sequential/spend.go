package sequential

// spend is how much of alpha is spent once a share of the most pairs is there: in proportion (D. Lan and D.
// DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983); K. Kim and D. DeMets, "Design
// and Analysis of Group Sequential Tests Based on the Type I Error Spending Rate Function", Biometrika 74 (1987), with ρ = 1).
//
// Of the powers ρ from ½ to 3 and Pocock's function, it needs the fewest pairs or nearly so where
// pairs differ by 2 to 10 %, with 8 to 30 pairs at most and a change of 0 or twice the margin, and
// decides nearly as often as the slowest of them.
func spend(alpha, share float64) float64 { return alpha * share }
