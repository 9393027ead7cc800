// Package metrics turns what single requests did into what a run was worth.
//
// A Record says what one request did. A Collector takes Records and gives a
// Summary at any time. A stream is Records written down, one JSON object a line,
// every line bearing its run's id, so that streams concatenate and interleave.
// Beside the numbers that vLLM defines, a Summary of Records has the Truth that
// those leave out, the Evidence of how well was measured, and Trust: the verdict.
//
// A Summary can as well be read from what others wrote: vLLM's result files, or
// any text with its result blocks in it; it then holds only what was printed
// there, and numbers it does not know are NaN, counts it does not know -1.
package metrics
