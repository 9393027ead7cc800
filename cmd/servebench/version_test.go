package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionComesFromTheBuild(t *testing.T) {
	module := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}}
	}
	for _, c := range []struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		{"v0.2.0-3-g1234abc", module("v0.2.1-0.20261122170000-1234abc00000"), "0.2.0-3-g1234abc"},
		{"1234abc-dirty", nil, "1234abc-dirty"},
		{"", module("v0.2.0"), "0.2.0"},
		{"", module("(devel)"), "devel"},
		{"", module(""), "devel"},
		{"", nil, "devel"},
	} {
		if got := versionOf(c.linked, c.info); got != c.want {
			t.Errorf("linked %q, module %+v: %s, want %s", c.linked, c.info, got, c.want)
		}
	}
}
