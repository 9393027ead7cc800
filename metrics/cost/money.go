package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParsePrice reads the price of a GPU in dollars an hour: 2.10/h, $2.10/h or 2.10.
func ParsePrice(text string) (float64, error) {
	number := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(text), "/h"), "$")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("invalid price: %q: it must be what a GPU costs in dollars an hour, as 2.10/h", text)
	}
	return v, nil
}

// Dollars is what so many GPUs cost for that many seconds, at a price in dollars for each hour of a
// GPU.
func Dollars(price, gpus, seconds float64) float64 { return price * gpus * seconds / 3600 }

// PerMillion is the price of a million tokens, in dollars, if so many of them cost that much: for
// output tokens, price/h · GPUs / (tok/s · 3600) · 10⁶. It is NaN if the cost is unknown, and without
// tokens.
func PerMillion(dollars float64, tokens int) float64 {
	return per(dollars, float64(max(tokens, 0))) * 1e6
}
