package metrics

import "slices"

// What vLLM's client makes otherwise of an answer than is made of it here, in
// Record.Otherwise. The first kind are sound answers that it fails; some of them only
// when the network delivers them in other pieces. The second are broken ones that it
// takes for complete, in which it passes over what went wrong after the output.
const (
	OtherwiseOutput  = "output"   // all its output has names that vLLM's client does not know: reasoning_content, refusal
	OtherwiseLineEnd = "line-end" // lines end in CR LF, or CR
	OtherwiseLines   = "lines"    // an event has several data: lines
	OtherwiseEvent   = "event"    // there are event: lines
	OtherwiseSpace   = "space"    // no space follows data:
	OtherwiseCut     = "cut"      // the connection broke after [DONE]

	OtherwiseUnended    = "unended"    // neither [DONE] nor a finish reason came
	OtherwiseError      = "error"      // an error event came after output
	OtherwiseUnfinished = "unfinished" // the finish reason is error or abort
)

// Otherwise counts answers by their Record.Otherwise.
type Otherwise map[string]int

// Sound is how many answers are complete here, and failed for vLLM's client.
func (o Otherwise) Sound() int {
	n := 0
	for why, answers := range o {
		if !brokenFor(why) {
			n += answers
		}
	}
	return n
}

// Broken is how many answers failed here, and are complete for vLLM's client.
func (o Otherwise) Broken() int {
	n := 0
	for why, answers := range o {
		if brokenFor(why) {
			n += answers
		}
	}
	return n
}

func brokenFor(why string) bool {
	return slices.Contains([]string{OtherwiseUnended, OtherwiseError, OtherwiseUnfinished}, why)
}
