package preflight

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A requirement is a package with bounds of its version, as pip takes it: vllm>=0.29,<0.31.
type requirement struct {
	text, name string
	bounds     [][]string // operator and version
}

var (
	packageName = regexp.MustCompile(`^[A-Za-z0-9._-]+`)
	bound       = regexp.MustCompile(`^\s*(==|!=|<=|>=|<|>)\s*([0-9.]+)\s*$`)
	leading     = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*`)
)

// require reads a requirement; ok is false if pip's other ways to write one are in it.
func require(text string) (r requirement, ok bool) {
	r = requirement{text: strings.TrimSpace(text)}
	r.name = packageName.FindString(r.text)
	rest := r.text[len(r.name):]
	if r.name == "" || rest == "" {
		return r, r.name != ""
	}
	for part := range strings.SplitSeq(rest, ",") {
		m := bound.FindStringSubmatch(part)
		if m == nil {
			return r, false
		}
		r.bounds = append(r.bounds, m[1:])
	}
	return r, true
}

// holds reports whether a version is within the bounds.
func (r *requirement) holds(version string) bool {
	return !slices.ContainsFunc(r.bounds, func(b []string) bool {
		c := compareVersions(version, b[1])
		return !map[string]bool{"==": c == 0, "!=": c != 0, "<=": c <= 0, ">=": c >= 0, "<": c < 0, ">": c > 0}[b[0]]
	})
}

// compareVersions compares the numbers that versions begin with: 0.33.0+cpu and 0.33 are equal.
func compareVersions(a, b string) int {
	x, y := numbers(a), numbers(b)
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(nth(x, i), nth(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

// numbered reports whether a version begins with a number; a build from sources may say dev, and
// nvidia-smi [N/A].
func numbered(version string) bool { return leading.MatchString(version) }

func numbers(version string) (all []int) {
	for part := range strings.SplitSeq(leading.FindString(version), ".") {
		n, _ := strconv.Atoi(part) // nothing is 0
		all = append(all, n)
	}
	return all
}

func nth(all []int, i int) int {
	if i < len(all) {
		return all[i]
	}
	return 0
}

// install is how to get the package.
func (r *requirement) install() string {
	command := "pip install " + r.text
	if strings.ContainsAny(r.text, "<>! ") {
		command = "pip install '" + r.text + "'"
	}
	if r.name == "kvcached" {
		command += " --no-build-isolation, after vLLM"
	}
	return command
}
