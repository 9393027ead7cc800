package lineup

import (
	"slices"
	"testing"
)

func TestServersAtSocketsOfTheirOwnAreNotOne(t *testing.T) {
	l := Lineup{Targets: []Target{{"a", "http://h", "/a", 5}, {"b", "http://h", "/b", 5}, {"c", "http://h", "/a", 5}}}
	if seeds := l.seeds(); !slices.Equal(seeds, []int64{5, 5, 6}) {
		t.Errorf("seeds %v", seeds)
	}
}

func TestMembersNameTheOtherOfAPair(t *testing.T) {
	l := Lineup{Targets: []Target{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Solo: true, Pairs: true}
	for i, members := range l.Repeat(0) {
		want := []struct {
			solo bool
			with string
		}{{true, ""}, {true, ""}, {true, ""}, {false, "b"}, {false, "c"}, {false, "c"}, {false, ""}}[i]
		if m := members[0]; m.Solo != want.solo || m.With != want.with {
			t.Errorf("%v: the first is alone %v, with %q", members, m.Solo, m.With)
		}
	}
}
