package preflight

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
)

// releases are the releases of vLLM that will do.
type releases sweep.VLLMNeeds

// String is what pip calls them.
func (r releases) String() string {
	var bounds []string
	if r.From != "" {
		bounds = append(bounds, ">="+r.From)
	}
	if r.Below != "" {
		bounds = append(bounds, "<"+r.Below)
	}
	return "vllm" + strings.Join(bounds, ",")
}

// have reports whether a version is one of them.
func (r releases) have(version string) bool {
	own := numbers(version)
	old := r.From != "" && slices.Compare(own, numbers(r.From)) < 0
	young := r.Below != "" && slices.Compare(own, numbers(r.Below)) >= 0
	return !old && !young
}

// install is the command that gets one of them.
func (r releases) install() string {
	if r == (releases{}) {
		return "pip install vllm"
	}
	return "pip install '" + r.String() + "'"
}

var leading = regexp.MustCompile(`^\d+(\.\d+)*`)

// numbered reports whether a version begins with a number; a build from sources may say dev, and
// nvidia-smi [N/A].
func numbered(version string) bool { return leading.MatchString(version) }

// numbers are those that a version begins with: of 0.33.0+cpu they are 0, 33 and 0.
func numbers(version string) (all []int) {
	for part := range strings.SplitSeq(leading.FindString(version), ".") {
		n, _ := strconv.Atoi(part) // nothing is 0
		all = append(all, n)
	}
	return all
}
