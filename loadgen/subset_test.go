package loadgen

import (
	"reflect"
	"testing"
)

func TestEachSubsetIsLoadedOnceAndInTurns(t *testing.T) {
	three := []*Plan{at("http://h:1", "", 0), at("http://h:2", "", 0), at("http://h:3", "", 0)}
	e := several(2, three...)
	forth := []subset{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	back := []subset{{0, 1, 2}, {1, 2}, {0, 2}, {0, 1}, {2}, {1}, {0}}
	if a, b := e.order(0), e.order(1); !reflect.DeepEqual(a, forth) || !reflect.DeepEqual(b, back) {
		t.Errorf("the load tests are of %v, then of %v", a, b)
	}
	if n := e.Trials(); n != 2*12 {
		t.Errorf("%d load tests of single targets, want 24", n)
	}
	two := several(1, three[:2]...)
	if got := two.order(0); !reflect.DeepEqual(got, []subset{{0}, {1}, {0, 1}}) {
		t.Errorf("two targets are loaded as %v", got)
	}
}

func TestHeaderNamesTheOtherOfAPair(t *testing.T) {
	e := several(1, at("http://h:1", "", 0), at("http://h:2", "", 0), at("http://h:3", "", 0))
	for i, s := range e.subsets() {
		solo, with := e.among(s[0], s)
		want := []struct {
			solo bool
			with string
		}{{true, ""}, {true, ""}, {true, ""}, {false, "b"}, {false, "c"}, {false, "c"}, {false, ""}}[i]
		if solo != want.solo || with != want.with {
			t.Errorf("%v: the first is alone %v, with %q", s, solo, with)
		}
	}
}
