package dataset

import (
	"errors"
	"strings"
	"testing"
)

func lengths(pairs ...[2]int) Source {
	return func(yield func(*Conversation, error) bool) {
		for _, p := range pairs {
			if !yield(&Conversation{Turns: []Turn{{PromptLen: p[0], OutputLen: p[1]}}}, nil) {
				return
			}
		}
	}
}

// The percentiles are numpy 1.24.2's.
func TestStatsDescribeLengths(t *testing.T) {
	var pairs [][2]int
	for i := range 40 {
		pairs = append(pairs, [2]int{10 + i*i/8, 128})
	}
	var text strings.Builder
	if err := WriteStats(&text, lengths(pairs...)); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
prompt tokens: count 40, min 10, mean 74.0, median 57.5, p90 163.9, p99 196.1, max 200, total 2960
   10 –  25 12  ########################################
   26 –  41  4  ##############
   42 –  57  4  ##############
   58 –  73  3  ##########
   74 –  89  3  ##########
   90 – 105  2  #######
  106 – 121  2  #######
  122 – 137  2  #######
  138 – 153  2  #######
  154 – 169  2  #######
  170 – 185  2  #######
  186 – 201  2  #######

output tokens: count 40, min 128, mean 128.0, median 128, p90 128, p99 128, max 128, total 5120
  128 – 128 40  ########################################
`, "\n")
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
}

func TestStatsOfNothingAndOfAnError(t *testing.T) {
	var text strings.Builder
	if err := WriteStats(&text, lengths()); err != nil || text.String() != "prompt tokens: count 0\n\noutput tokens: count 0\n" {
		t.Errorf("%q %v", text.String(), err)
	}
	bad := errors.New("bad")
	if err := WriteStats(&text, func(yield func(*Conversation, error) bool) { yield(nil, bad) }); err != bad {
		t.Errorf("error %v", err)
	}
}
