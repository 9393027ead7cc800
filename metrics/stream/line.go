// Package stream writes Records to files and reads them.
//
// A stream is JSON, one object a line: a run line, a line for each Record and Sample, and an end
// line. Every line has its run's id, so streams can be concatenated and interleaved: cat merges the
// shards of a run. A Writer writes one run or one shard. A Reader yields what any streams hold,
// even if lines are torn, repeated or prefixed. Read sums up each run in a stream, or else in
// vLLM's result files and blocks, and judges the runs whose requests are known.
//
// An IntervalLog is another form of the same Records: histograms for each second.
package stream

import (
	"strconv"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// streamVersion is the version of the record stream that is written and read here.
const streamVersion = 3

// Kinds of lines of a record stream. Readers skip those they do not know.
const (
	kindRun    = "run"
	kindReq    = "req"
	kindSample = "sample"
	kindMore   = "more"
	kindEnd    = "end"
)

// A lineHead opens each line of a stream.
type lineHead struct {
	V     int    `json:"v"`
	Kind  string `json:"k"`
	Run   string `json:"run"`
	Shard int    `json:"s,omitempty"`
}

// appendRequest appends the line of a request.
func appendRequest(b []byte, head lineHead, r *record.Record) []byte {
	b = strconv.AppendInt(append(b, `{"v":`...), int64(head.V), 10)
	b = append(append(b, `,"k":"`...), head.Kind...)
	b = record.AppendString(append(b, `","run":`...), head.Run)
	if head.Shard != 0 {
		b = strconv.AppendInt(append(b, `,"s":`...), int64(head.Shard), 10)
	}
	return append(record.Append(b, r), '}', '\n')
}

// known reports whether this program knows the version.
func (h lineHead) known() bool { return h.V == streamVersion }

type runLine struct {
	lineHead
	*metrics.Header
}

type sampleLine struct {
	lineHead
	*samples.Sample
}

type endLine struct {
	lineHead
	*metrics.End
}

// A partLine holds a piece of a line that would have been too long: the first piece under that
// line's kind, the others under "more".
type partLine struct {
	lineHead
	Message int    `json:"m"`    // which long line of its writer
	Part    int    `json:"p"`    // which piece of it, from 0
	Parts   int    `json:"of"`   // how many pieces there are
	Text    string `json:"json"` // the piece
}
