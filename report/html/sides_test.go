package html

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestTwoArmsAreComparedAndThreeAreNot(t *testing.T) {
	arm := func(id, name string) Run {
		return run(metrics.Header{Run: id, Config: metrics.Config{Model: "m", NumPrompts: 20, Metadata: []metrics.KV{{Key: "arm", Value: name}}}}, 20, 5, "")
	}
	two := write(t, arm("1", "without"), arm("2", "with"))
	for _, want := range []string{`<h1>with against without</h1>`, "Old is without, new is with.", "NO VERDICT", `href="#versus"`} {
		if !strings.Contains(two, want) {
			t.Errorf("the page of two arms has no %s", want)
		}
	}
	if three := write(t, arm("1", "a"), arm("2", "b"), arm("3", "c")); strings.Contains(three, `id="versus"`) {
		t.Error("the page of three arms compares them")
	}
}
