package main

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// linked is what make tells the linker: the output of git describe.
var linked string

// buildVersion is the version of servebench, which --version prints and each run's
// header has. It is what git describe told make, else the version that go install or
// go build recorded for the module, else "devel".
func buildVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(linked, info)
}

// versionOf is buildVersion of a program with that build information, which may be nil.
func versionOf(linked string, info *debug.BuildInfo) string {
	recorded := ""
	if info != nil && info.Main.Version != "(devel)" {
		recorded = info.Main.Version
	}
	return strings.TrimPrefix(cmp.Or(linked, recorded, "devel"), "v")
}
