package stats

import "math"

// BinomialRanks are the ranks, from 1, of the values of n between which the quantile p is, each end
// with a chance of error of at most alpha/2: low is 0 and high n+1 if no value is that sure. Both
// equal scipy.stats.binom: ppf(alpha/2) and ppf(1−alpha/2) + 1.
func BinomialRanks(n int, p, alpha float64) (low, high int) {
	mode := min(int(float64(n+1)*p), n)
	// Ten standard deviations from the mode, a float64 cannot hold what is left.
	reach := int(10*math.Sqrt(float64(n)*p*(1-p))) + 50
	from, to := max(0, mode-reach), min(n, mode+reach)
	chances := make([]float64, to-from+1)
	odds := p / (1 - p)
	chances[mode-from] = 1
	total := 1.0
	for k := mode; k < to; k++ {
		chances[k+1-from] = chances[k-from] * float64(n-k) / float64(k+1) * odds
		total += chances[k+1-from]
	}
	for k := mode; k > from; k-- {
		chances[k-1-from] = chances[k-from] * float64(k) / float64(n-k+1) / odds
		total += chances[k-1-from]
	}
	tail := alpha / 2 * total
	low, high = from, to+1
	for sum := chances[0]; sum < tail && low < to; sum += chances[low-from] {
		low++
	}
	for sum := chances[to-from]; sum < tail && high-1 > from; sum += chances[high-1-from] {
		high--
	}
	return low, high
}
