package stream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
)

// ErrNothing says that the input holds no run in a known form.
var ErrNothing = errors.New("no run in it: it is no record stream (servebench run -o FILE), no result file of vLLM " +
	"(--save-result) " +
	"and no text with a result block")

// A nothing is ErrNothing with its reason.
type nothing string

func (n nothing) Error() string { return string(n) }
func (nothing) Unwrap() error   { return ErrNothing }

// gzipMark opens a file of gzip.
var gzipMark = []byte{0x1f, 0x8b}

// sniffLength is how much of a source to look at to decide whether it is JSON.
const sniffLength = 64 << 10

// Read sums up each run in r: a record stream, vLLM's result JSON, or a text with result blocks in
// it. A record stream may be anywhere in another text, whose blocks are then ignored. Read judges
// runs of a record stream; other forms have no data for a verdict. Any of it may be packed by zstd.
// If r is a *Files, Read names damaged lines of a stream.
func Read(r io.Reader, ask metrics.Ask) ([]*metrics.Summary, error) {
	files, ok := r.(*Files)
	if !ok {
		files = newFile("the input", r)
	}
	b := bufio.NewReaderSize(files, sniffLength)
	// A short source is no error here; any other error comes again with the next read.
	head, _ := b.Peek(sniffLength)
	var sums []*metrics.Summary
	var err error
	if bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("{")) && !isStream(head) {
		sums, err = vllm.ReadResults(b, ask)
	} else {
		stream := newReader(b)
		stream.spoilt = files.damaged
		if ok {
			stream.place = files.place
		}
		sums, err = readText(stream, ask)
	}
	blank := len(bytes.TrimSpace(head)) == 0
	switch spoilt := files.damaged(); {
	case err != nil && len(spoilt) > 0 && errors.Is(err, vllm.ErrNoBlock):
		return nil, nothing("no run in it: its compressed data is damaged")
	case err != nil && blank && files.packed():
		return nil, nothing("no run in it: it is a compressed stream that was cut before its first line")
	case err != nil && blank:
		return nil, nothing("it is empty")
	case err != nil && bytes.HasPrefix(head, gzipMark):
		return nil, nothing("it is gzip: unpack it first")
	case errors.Is(err, vllm.ErrNoResult) || errors.Is(err, vllm.ErrNoBlock):
		return nil, ErrNothing
	}
	return sums, err
}

// holdsShards reports whether r begins with the record stream of a shard; other files may have
// other shards of the run.
func holdsShards(r io.Reader) bool {
	for e, err := range NewReader(io.LimitReader(r, sniffLength)).Entries() {
		if err != nil {
			return false
		}
		if e.Shard > 0 || e.Header != nil {
			return e.Shard > 0 || e.Header.Shards > 1
		}
	}
	return false
}

// isStream reports whether a line of a record stream begins somewhere in head.
func isStream(head []byte) bool {
	return bytes.HasPrefix(head, streamMark) || bytes.Contains(head, append([]byte("\n"), streamMark...))
}

// readText reads a record stream, or else the blocks in a text. It looks for both in one pass: the
// text may come from a pipe, and any text may precede a stream.
func readText(stream *Reader, ask metrics.Ask) ([]*metrics.Summary, error) {
	var blocks vllm.BlockReader
	stream.foreign = blocks.Line
	sums, err := readStream(stream, ask)
	if err != nil || len(sums) > 0 {
		return sums, err
	}
	sums, err = blocks.Summaries(ask)
	if err != nil && stream.Damaged > 0 {
		return nil, fmt.Errorf("no run in it: there is only %s", stream.damagedLines())
	}
	return sums, err
}
