package vllm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
)

// fingerprint is the same for two results with the same numbers under the same names, however they are
// laid out. Measured to the last digit, no two runs have the same.
func fingerprint(numbers map[string]string) string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		fmt.Fprintf(hash, "%q=%q\n", name, numbers[name])
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// fingerprint is of the file's numbers and its date, without texts and arrays: so a copy with another
// label, other white space or another order of keys has the same.
func (f *resultFile) fingerprint() string {
	numbers := map[string]string{"date": f.text("date")}
	for _, m := range f.members {
		if v := f.number(m.key); !math.IsNaN(v) {
			numbers[m.key] = fmt.Sprint(v)
		}
	}
	return fingerprint(numbers)
}

// leastLines is how many numbers a block must have for a fingerprint. Two runs may well have the same few,
// which are rounded.
const leastLines = 8
