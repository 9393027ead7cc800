package metrics

import (
	"slices"
)

// Reasons in Record.Differs why vLLM's client judges an answer differently. The first group are
// sound answers that it fails; some only if the network splits them differently. The second group
// are broken answers that it takes for complete, because it ignores what went wrong after the
// output.
const (
	DiffersOutput  = "output"   // all its output has member names that vLLM's client does not know
	DiffersLineEnd = "line-end" // lines end in CR LF, or CR
	DiffersLines   = "lines"    // an event has several data: lines
	DiffersEvent   = "event"    // there are event: lines
	DiffersSpace   = "space"    // no space follows data:
	DiffersComment = "comment"  // a transcription has comments
	DiffersCut     = "cut"      // the connection broke after [DONE]

	DiffersUnended    = "unended"    // neither [DONE] nor a finish reason came
	DiffersError      = "error"      // an error event came after output
	DiffersUnfinished = "unfinished" // the finish reason is error or abort
)

// Differing counts answers by their Record.Differs.
type Differing map[string]int

// Sound is the number of answers that are complete here and failed for vLLM's client.
func (o Differing) Sound() int {
	n := 0
	for why, answers := range o {
		if !brokenFor(why) {
			n += answers
		}
	}
	return n
}

// Broken is the number of answers that failed here and are complete for vLLM's client.
func (o Differing) Broken() int {
	n := 0
	for why, answers := range o {
		if brokenFor(why) {
			n += answers
		}
	}
	return n
}

func brokenFor(why string) bool {
	return slices.Contains([]string{DiffersUnended, DiffersError, DiffersUnfinished}, why)
}
