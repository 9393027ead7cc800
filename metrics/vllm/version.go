package vllm

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/servebench/servebench/metrics/record"
)

// A Version is a release of vLLM, whose block changed over time. The zero value is the latest.
type Version struct{ major, minor, patch int }

// oldest is the first release that printed a block at all.
var oldest = Version{major: 0, minor: 4, patch: 0}

// release is the part of a release's name that counts: v0.10.1.post1 is 0.10.1.
var release = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:\.?(?:post|rc|dev)\d+)?$`)
})

// ParseVersion reads the name of a version: latest, or a release such as 0.6.4. An empty name is
// the latest.
func ParseVersion(s string) (Version, error) {
	if s == "" || s == "latest" {
		return Version{}, nil
	}
	m := release().FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("%q: must be latest or a release from %s on, such as 0.6.4", s, oldest)
	}
	var v Version
	for i, part := range []*int{&v.major, &v.minor, &v.patch} {
		// It is not empty and has at most six digits.
		*part, _ = strconv.Atoi(m[i+1])
	}
	if v == (Version{}) || v.before(oldest) {
		return Version{}, fmt.Errorf("%q: vLLM before %s printed no block", s, oldest)
	}
	return v, nil
}

func (v Version) String() string {
	if v == (Version{}) {
		return "latest"
	}
	return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
}

// Definitions are the rules by which v's client counts. Releases before 0.30.0 count like 0.30.0.
func (v Version) Definitions() record.Definitions {
	if v.before(Version{major: 0, minor: 33, patch: 0}) {
		return record.Definitions030
	}
	return record.Definitions033
}

// Borrows says that v's latencies are counted by the definitions of 0.30.0, which is newer. It is empty for
// v from 0.30.0 on.
func (v Version) Borrows() string {
	if v.Since(30, 0) {
		return ""
	}
	return fmt.Sprintf("--vllm-version %s: the lines are of that release, the latencies by the definitions of %s", v,
		v.Definitions())
}

// Since reports whether v is release 0.minor.patch or a later one.
func (v Version) Since(minor, patch int) bool {
	return !v.before(Version{major: 0, minor: minor, patch: patch})
}

// before reports whether v is older than w; the latest is not older than any.
func (v Version) before(w Version) bool {
	switch {
	case v == (Version{}):
		return false
	case w == (Version{}):
		return true
	case v.major != w.major:
		return v.major < w.major
	case v.minor != w.minor:
		return v.minor < w.minor
	}
	return v.patch < w.patch
}

// A span is the versions from since on, and before until. Its zero value is all versions.
type span struct{ since, until Version }

func (s span) holds(v Version) bool {
	return (s.since == Version{} || !v.before(s.since)) && (s.until == Version{} || v.before(s.until))
}

func since(minor, patch int) span { return span{since: Version{major: 0, minor: minor, patch: patch}} }
func until(minor, patch int) span { return span{until: Version{major: 0, minor: minor, patch: patch}} }
