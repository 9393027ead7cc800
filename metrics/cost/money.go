package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Price is what one GPU costs, in dollars an hour; 0 is unknown.
type Price float64

// ParsePrice reads a Price: 2.10/h, $2.10/h or 2.10.
func ParsePrice(text string) (Price, error) {
	number := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(text), "/h"), "$")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("invalid price: %q: it must be what a GPU costs in dollars an hour, as 2.10/h", text)
	}
	return Price(v), nil
}

// Dollars is what so many GPUs cost for that many seconds; NaN if the price is unknown.
func (p Price) Dollars(gpus, seconds float64) float64 {
	if !(p > 0) {
		return math.NaN()
	}
	return float64(p) * gpus * seconds / 3600
}

// PerMillion is the price of a million tokens, in dollars, if so many of them cost that much: for
// output tokens, price/h · GPUs / (tok/s · 3600) · 10⁶. It is NaN if the cost is unknown, and without
// tokens.
func PerMillion(dollars float64, tokens int) float64 {
	return per(dollars, float64(max(tokens, 0))) * 1e6
}
