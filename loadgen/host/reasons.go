package host

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/gpu"
)

// reasonNames are the names of the reasons that slow a GPU down. Drivers before r535 know the second
// only.
var reasonNames = [...]string{"clocks_event_reasons.active", "clocks_throttle_reasons.active"}

// WithReasons is n with the driver's name of the reasons that slow a GPU down, if it knows them. The
// note says what else is the case; it is empty if the driver knows the first name.
func (n NvidiaSMI) WithReasons(ctx context.Context) (_ NvidiaSMI, note string) {
	n.Reasons = ""
	for i, name := range reasonNames {
		var out head
		err := n.command(ctx, &out, "--query-gpu="+name, "--format=csv,noheader").Run()
		said := strings.Join(strings.Fields(string(out)), " ")
		first, _, _ := strings.Cut(string(out), "\n")
		switch {
		case err == nil && parseReasons(first) != nil && i == 0:
			n.Reasons = name
			return n, ""
		case err == nil && parseReasons(first) != nil:
			n.Reasons = name
			return n, fmt.Sprintf("nvidia-smi does not know %s: %s has the same", reasonNames[0], name)
		case note == "":
			note = fmt.Sprintf("nvidia-smi does not say what slows the GPU down: its %s is %q", name, said)
		}
	}
	return n, note
}

// parseReasons reads 0x0000000000000004; nil if it is something else, as [N/A].
func parseReasons(text string) *gpu.Reasons {
	mask, hexadecimal := strings.CutPrefix(strings.TrimSpace(text), "0x")
	v, err := strconv.ParseUint(mask, 16, 64)
	if !hexadecimal || err != nil {
		return nil
	}
	return new(gpu.Reasons(v))
}
