package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A version is a version of servebench in the spelling of each kind of package.
type version struct {
	described string // by git describe
	number    string // that without the "v"
	python    string // https://packaging.python.org/en/latest/specifications/version-specifiers
	debian    string // https://www.debian.org/doc/debian-policy/ch-controlfields.html#version
}

var (
	afterTag   = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?(?:-(\d+)-(g[0-9a-f]+))?(-dirty)?$`)
	withoutTag = regexp.MustCompile(`^([0-9a-f]{7,})(-dirty)?$`)
)

// parseVersion reads the output of git describe. A commit without a tag has version 0.0.0. A
// version that is not a release has a "+" in Python's spelling, which PyPI rejects.
func parseVersion(described string) (version, error) {
	v := version{described: described, number: strings.TrimPrefix(described, "v")}
	var local []string
	dirty := ""
	switch t, w := afterTag.FindStringSubmatch(described), withoutTag.FindStringSubmatch(described); {
	case t != nil:
		v.python, v.debian, dirty = t[1], t[1], t[6]
		if kind, n := t[2], t[3]; kind != "" {
			v.python += pythonStage[kind] + n
			v.debian += "~" + kind + n
		}
		if commits, commit := t[4], t[5]; commits != "" {
			v.python += ".post" + commits
			local = append(local, commit)
			v.debian += "+" + commits
		}
	case w != nil:
		v.python, v.debian, dirty = "0.0.0", "0.0.0", w[2]
		local = append(local, "g"+w[1])
	default:
		return v, fmt.Errorf("-version %s: tags of releases are like v1.2.3 and v1.2.3-rc.1", described)
	}
	if dirty != "" {
		local = append(local, "dirty")
	}
	if len(local) > 0 {
		v.python += "+" + strings.Join(local, ".")
		v.debian += "+" + strings.Join(local, ".")
	}
	return v, nil
}

// pythonStage is what Python calls the stages before a release.
var pythonStage = map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}
