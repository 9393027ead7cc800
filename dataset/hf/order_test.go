package hf

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An orderCase is an order of rows that the library datasets gave.
type orderCase struct {
	Rows      int
	Lens      []int
	Streaming bool
	Seed      uint64
	First     []int
	Sum       string `json:"sha256"`
	OneSum    string `json:"sha256_of_decimals_joined_by_commas"`
}

func readCases(t *testing.T, path string, cases any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, cases); err != nil {
		t.Fatal(err)
	}
}

func TestOrderIsThatOfDatasets(t *testing.T) {
	for path, n := range map[string]int{"../../testdata/golden/hf_shuffle.json": 30, "testdata/order.json": 24} {
		var file struct{ Cases []orderCase }
		readCases(t, path, &file)
		if len(file.Cases) != n {
			t.Fatalf("%s: %d cases, want %d", path, len(file.Cases), n)
		}
		for _, c := range file.Cases {
			if c.Lens == nil {
				c.Lens, c.Sum = []int{c.Rows}, c.OneSum
			}
			order := shuffled(c.Lens, c.Seed)
			if c.Streaming {
				order = streamed(c.Lens, c.Seed)
			}
			var decimals []string
			for _, row := range order {
				decimals = append(decimals, strconv.Itoa(row))
			}
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(decimals, ","))))
			if sum != c.Sum || !slices.Equal(order[:len(c.First)], c.First) {
				t.Errorf("%v rows with seed %d, streaming %v: %v…, want %v…", c.Lens, c.Seed, c.Streaming, order[:len(c.First)], c.First)
			}
		}
	}
}
