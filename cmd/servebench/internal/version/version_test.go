package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuildIsWhatTheLinkerWasToldElseWhatGoRecorded(t *testing.T) {
	const commit = "1234abc0000011112222333344445555666677778"
	module := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	for _, c := range []struct {
		name   string
		linked build
		info   *debug.BuildInfo
		want   build
		header string
	}{
		{"make", build{number: "v0.2.0-3-g1234abc", commit: commit}, module("v0.2.1-0.20261122170000-1234abc00000"), build{number: "0.2.0-3-g1234abc", commit: commit}, commit},
		{"make without git's stamp", build{number: "1234abc-dirty", commit: commit}, nil, build{number: "1234abc-dirty", commit: commit, modified: true}, commit + "+dirty"},
		{"go install of a tag", build{}, module("v0.2.0"), build{number: "0.2.0", commit: "not recorded"}, ""},
		{"go install of a commit", build{}, module("v0.0.0-20261122170000-1234abc00000"), build{number: "0.0.0-20261122170000-1234abc00000", commit: "1234abc00000"}, "1234abc00000"},
		{"go build in a clone", build{}, module("v0.2.0", revision), build{number: "0.2.0", commit: commit}, commit},
		{"go build of changed files", build{}, module("v0.2.0+dirty", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), build{number: "0.2.0+dirty", commit: commit + ", modified", modified: true}, commit + "+dirty"},
		{"go build without git", build{}, module("(devel)"), build{number: "devel", commit: "not recorded"}, ""},
		{"go test", build{}, module(""), build{number: "devel", commit: "not recorded"}, ""},
		{"no build information", build{}, nil, build{number: "devel", commit: "not recorded"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.linked.or(c.info); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if got := c.want.measuredBy(); got != c.header {
				t.Errorf("the header has %q, want %q", got, c.header)
			}
		})
	}
}

func TestTextNamesTheSystemAndItsStamps(t *testing.T) {
	text := Text()
	for _, want := range []string{"commit:   not recorded\n", "go:       go1.", "platform: " + runtime.GOOS + "/" + runtime.GOARCH, "stamps:   ", "timers:   "} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if linux := runtime.GOOS == "linux"; strings.Contains(text, "timerfd") != linux {
		t.Errorf("on %s:\n%s", runtime.GOOS, text)
	}
	for platform, want := range map[string]bool{"linux/amd64": false, "linux/arm64": true, "windows/amd64": true} {
		if said := strings.Contains(untested(platform), "not tested"); said != want {
			t.Errorf("%s: %q", platform, untested(platform))
		}
	}
}
