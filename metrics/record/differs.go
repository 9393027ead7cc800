package record

import "slices"

// The reasons in Result.Differs say why vLLM's client judges an answer differently.
//
// The first group are sound answers that it fails, some of them only if the network splits them differently.
const (
	DiffersOutput  = "output"   // all its output has member names that vLLM's client does not know
	DiffersLineEnd = "line-end" // lines end in CR LF, or CR
	DiffersLines   = "lines"    // an event has several data: lines
	DiffersEvent   = "event"    // there are event: lines
	DiffersSpace   = "space"    // no space follows data:
	DiffersComment = "comment"  // a transcription has comments
	DiffersCut     = "cut"      // the connection broke after [DONE]
)

// The second group are broken answers that it takes for complete, because it ignores what went wrong after the
// output.
const (
	DiffersUnended    = "unended"    // neither [DONE] nor a finish reason came
	DiffersError      = "error"      // an error event came after output
	DiffersUnfinished = "unfinished" // the finish reason is error or abort
)

// Broken reports that a reason in Result.Differs is of the second group.
func Broken(differs string) bool {
	return slices.Contains([]string{DiffersUnended, DiffersError, DiffersUnfinished}, differs)
}
