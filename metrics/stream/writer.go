package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// PipeLine is the MaxLine that is safe on a pipe: Slurm mixes up longer lines of different tasks.
const PipeLine = 1000

// A Writer writes one run, or one shard of it, as a record stream: Begin once, Write for each
// record and Sample for each sample, End. Every line is one call of Write, so whatever kills the
// program leaves at most the last line torn. Only one goroutine may use it.
type Writer struct {
	MaxLine  int  // most bytes in a line, with its end; 0 means no limit
	NoChunks bool // leave out arrival times between a request's first and last chunk

	w        io.Writer
	head     lineHead
	messages int    // long lines so far
	line     []byte // the last record's
	buf      bytes.Buffer
}

// NewWriter returns a Writer to w, which needs no buffer and no lock.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Begin writes the run line. Records are written as they are, whatever the Definitions of the run.
func (sw *Writer) Begin(h *metrics.Header) error {
	sw.head = lineHead{V: streamVersion, Run: h.Run, Shard: h.Shard}
	named := *h
	named.Definitions = h.Definitions.Named()
	return sw.write(kindRun, runLine{sw.headOf(kindRun), &named})
}

// Write writes a record. It neither keeps nor changes the record.
func (sw *Writer) Write(r *record.Record) error {
	if sw.NoChunks {
		short := *r
		a := &short.Answer
		a.Chunks, a.Blank, a.Late, short.Tokens.PerChunk = a.Chunks.Ends(), a.Blank.Ends(), nil, nil
		r = &short
	}
	sw.line = appendRequest(sw.line[:0], sw.headOf(kindReq), r)
	return sw.put(kindReq, sw.line)
}

// Sample writes a sample as Write does a record.
func (sw *Writer) Sample(s *samples.Sample) error {
	return sw.write(kindSample, sampleLine{sw.headOf(kindSample), s})
}

// End writes the result of the run. A stream without an end counts as cut.
func (sw *Writer) End(s *metrics.Summary) error {
	e, err := s.End()
	if err != nil {
		return err
	}
	return sw.write(kindEnd, endLine{sw.headOf(kindEnd), e})
}

func (sw *Writer) headOf(kind string) lineHead {
	h := sw.head
	h.Kind = kind
	return h
}

func (sw *Writer) write(kind string, line any) error {
	text, err := sw.encode(line)
	if err != nil {
		return fmt.Errorf("encoding a %s line: %w", kind, err)
	}
	return sw.put(kind, text)
}

// put writes a line and its end, or several if it is too long.
func (sw *Writer) put(kind string, text []byte) error {
	if sw.MaxLine <= 0 || len(text) <= sw.MaxLine {
		_, err := sw.w.Write(text)
		return err
	}
	return sw.writeParts(kind, bytes.TrimSuffix(bytes.Clone(text), []byte("\n")))
}

// writeParts writes a long line as several.
func (sw *Writer) writeParts(kind string, text []byte) error {
	part := partLine{lineHead: sw.headOf(kind), Message: sw.messages, Part: len(text), Parts: len(text)}
	sw.messages++
	// The widest possible numbers make the longest line.
	empty, err := sw.encode(part)
	if err != nil {
		return fmt.Errorf("encoding a %s line: %w", kind, err)
	}
	pieces := split(text, sw.MaxLine-len(empty)-len(kindMore))
	part.Parts = len(pieces)
	for i, piece := range pieces {
		part.Part, part.Text = i, string(piece)
		line, err := sw.encode(part)
		if err != nil {
			return fmt.Errorf("encoding a %s line: %w", kind, err)
		}
		if _, err := sw.w.Write(line); err != nil {
			return err
		}
		part.Kind = kindMore
	}
	return nil
}

// encode returns a line and its end, valid until the next call.
func (sw *Writer) encode(line any) ([]byte, error) {
	sw.buf.Reset()
	e := json.NewEncoder(&sw.buf)
	e.SetEscapeHTML(false)
	err := e.Encode(line)
	return sw.buf.Bytes(), err
}

// split cuts JSON text into pieces that take at most size bytes as JSON strings.
func split(text []byte, size int) [][]byte {
	var pieces [][]byte
	start, cost := 0, 0
	for i := 0; i < len(text); {
		_, n := utf8.DecodeRune(text[i:])
		c := n
		if text[i] == '"' || text[i] == '\\' {
			c = 2
		}
		if cost+c > size && i > start {
			pieces = append(pieces, text[start:i])
			start, cost = i, 0
		}
		i, cost = i+n, cost+c
	}
	return append(pieces, text[start:])
}
