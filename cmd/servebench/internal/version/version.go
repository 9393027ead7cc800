// Package version says which servebench this is and how it measures on this system.
//
// The information has three sources. make tells the linker the version and the commit, from git.
// The build information has what go build or go install recorded, and fills gaps. The system
// decides which stamps and timers a run gets.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
)

// What make tells the linker.
var (
	linked       string // what git describe prints
	linkedCommit string // the full hash of the commit
)

// Number is the version of servebench, which --version prints first and the header of each
// recording has. It is what git describe told make, else the version that go install or go build
// recorded for the module, else "devel". It has no "v" in front.
func Number() string {
	return fromBuild().number
}

// Commit is the commit that servebench was built from, as far as known, with "+dirty" behind it if
// files had been changed. make and go install give it different versions, and the same commit.
func Commit() string {
	return fromBuild().measuredBy()
}

// Text is what --version prints after the first line, which has the number.
func Text() string {
	stamps, timers := "servebench, after each read (no kernel stamps here)", "Go runtime, about a millisecond late"
	if wire.KernelStamps() {
		stamps = "kernel, as data arrives (SO_TIMESTAMPNS)"
	}
	if engine.KernelTimers {
		timers = "kernel (timerfd)"
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	b := fromBuild()
	return fmt.Sprintf("commit:   %s\ngo:       %s\nplatform: %s%s\nstamps:   %s\ntimers:   %s\n",
		b.commit, runtime.Version(), platform, untested(platform), stamps, timers)
}

// untested says that no test runs on a platform.
func untested(platform string) string {
	if platform == "linux/amd64" {
		return ""
	}
	return " (built for it, not tested on it)"
}

// A build identifies a build of servebench.
type build struct {
	number, commit string
	modified       bool // files of the clone had been changed
}

// measuredBy is the commit for headers; empty if it is not recorded.
func (b build) measuredBy() string {
	commit := strings.TrimSuffix(b.commit, modified)
	switch {
	case commit == unrecorded:
		return ""
	case b.modified:
		return commit + "+dirty"
	}
	return commit
}

// Words of --version about the commit.
const (
	modified   = ", modified"
	unrecorded = "not recorded"
)

func fromBuild() build {
	info, _ := debug.ReadBuildInfo()
	return build{number: linked, commit: linkedCommit}.or(info)
}

// or fills in what the linker was not told from the build information, which may be nil.
func (b build) or(info *debug.BuildInfo) build {
	recorded, commit, changed := "", "", ""
	if info != nil {
		if info.Main.Version != "(devel)" {
			recorded = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = modified
			}
		}
	}
	if commit == "" {
		commit = revisionOf(recorded)
	}
	number := strings.TrimPrefix(cmp.Or(b.number, recorded, "devel"), "v")
	return build{
		number: number, commit: cmp.Or(b.commit, commit+changed, unrecorded),
		modified: changed != "" || strings.HasSuffix(number, "dirty"),
	}
}

// revisionOf is the commit that a version of a module names, if any: one without a tag
// ends with the hash's first 12 digits.
func revisionOf(moduleVersion string) string {
	revision, _ := module.PseudoVersionRev(moduleVersion) // an error comes with ""
	return revision
}
