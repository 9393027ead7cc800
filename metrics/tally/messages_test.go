package tally

import (
	"fmt"
	"maps"
	"testing"
)

func TestMessagesOfAServerAreBounded(t *testing.T) {
	all := Messages{}
	for i := range 3 * maxMessages {
		all.Count(fmt.Sprint(i), 1)
	}
	if len(all) != maxMessages+1 || all[otherMessages] != 2*maxMessages {
		t.Errorf("%d messages, %d others", len(all), all[otherMessages])
	}
}

func TestWhichMessagesFindAPlaceDoesNotChange(t *testing.T) {
	var first Messages
	for range 5 {
		whole := Messages{}
		for half := range 2 {
			part := Messages{}
			for i := range maxMessages * 2 / 3 {
				part.Count(fmt.Sprint(half, i), 1)
			}
			whole.Merge(part)
		}
		if first == nil {
			first = whole
		}
		if !maps.Equal(first, whole) || whole[otherMessages] == 0 {
			t.Fatal("the messages differ")
		}
	}
}
