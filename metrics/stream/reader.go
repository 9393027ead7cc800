package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// streamMark opens every line of a record stream.
var streamMark = []byte(`{"v":`)

// insideMark finds a line with something in front: kubectl logs adds the name of a pod or the time,
// srun the number of a task. Within JSON, it would have backslashes.
var insideMark = regexp.MustCompile(fmt.Sprintf(`\{"v":%d,"k":"`, streamVersion))

// requestMark opens the line of a request, as a Writer writes it.
var requestMark = fmt.Sprintf(`{"v":%d,"k":"%s","run":`, streamVersion, kindReq)

// maxMessage bounds a line of a stream, and a message that was split over lines.
const maxMessage = 256 << 20

// An Entry is one message of a record stream. Exactly one of Header, Record,
// Sample and End is set.
type Entry struct {
	Run    string
	Shard  int
	Header *metrics.Header
	Record *record.Record
	Sample *samples.Sample
	End    *metrics.End
}

// A Reader reads record streams of one or many runs, concatenated or interleaved. It skips lines of
// unknown kinds.
type Reader struct {
	Skipped  int // lines so far that belong to no stream
	Damaged  int // lines of a stream so far that are torn or mixed up
	Repeated int // messages so far that were repeats and were not yielded again

	r       *bufio.Reader
	number  int                // of the current line, from 1
	damage  []int              // the numbers of the first damaged lines, at most maxNamed
	place   func(n int) string // names a line
	spoilt  func() []string    // warns of compressed data that is damaged; may be nil
	foreign func(line string)  // receives each line that belongs to no stream; may be nil
	log     bool               // a stream went to stdout: logs hold messages, too
	lend    bool               // a record is valid until the next Entry

	// seen holds a hash of each message. A record has its index and its times, a sample its time,
	// so two messages are equal only if one is a copy. The chance that two different messages out
	// of ten million share a hash is 3 in a million, and the count in the end line would show it.
	seen  hashes
	seed  maphash.Seed
	parts map[message]*partial
	runs  map[string]int // each run's rank by its first line, which a shorter line can overtake
}

// A message names a line that was split over several.
type message struct {
	run   string
	shard int
	n     int
}

// A partial is a message with some pieces still missing.
type partial struct {
	line int // of its first piece
	kind string
	next int
	text strings.Builder
}

// NewReader returns a Reader of r, which may be packed by zstd, all of it or some parts.
func NewReader(r io.Reader) *Reader { return newReader(plain(r)) }

func newReader(r io.Reader) *Reader {
	return &Reader{
		r:     bufio.NewReaderSize(r, 64<<10),
		place: func(n int) string { return fmt.Sprintf("line %d", n) },
		seed:  maphash.MakeSeed(),
		parts: map[message]*partial{}, runs: map[string]int{},
	}
}

// Entries yields the contents of the stream, in order, and repeated messages only once. The last
// pair may be an error: reading failed, or a line has a version that this program does not know.
func (sr *Reader) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for b := range sr.batches() {
			for i := range b.said {
				sr.number++
				entry, err := sr.entry(b, i)
				if err != nil {
					yield(Entry{}, err)
					return
				}
				if entry != (Entry{}) && !yield(entry, nil) {
					return
				}
			}
			if b.err != nil && !errors.Is(b.err, io.EOF) {
				yield(Entry{}, fmt.Errorf("reading a record stream: %w", b.err))
			}
		}
		for _, p := range sr.parts {
			sr.damaged(p.line)
		}
		sr.seen = hashes{} // 16 MB of a million requests
	}
}

// entry reads line i of a batch. It returns the zero Entry if the line has nothing to report.
func (sr *Reader) entry(b *batch, i int) (Entry, error) {
	line := &b.said[i]
	switch {
	case line.foreign:
		sr.skip(b.raw(i))
		return Entry{}, nil
	case line.head.V == 0 && line.torn:
		sr.damaged(sr.number)
		return Entry{}, nil
	case !line.head.known():
		return Entry{}, fmt.Errorf("record stream of version %d: this program reads version %d only: read it with the "+
			"servebench that wrote it", line.head.V, streamVersion)
	}
	if _, known := sr.runs[line.head.Run]; !known {
		sr.runs[line.head.Run] = len(sr.runs)
	}
	if line.part != nil {
		whole, kind := sr.join(line.part)
		if whole == nil {
			return Entry{}, nil
		}
		line.head.Kind = kind
		*line = b.parser.whole(line.head, whole)
	}
	if line.torn {
		sr.damaged(sr.number)
		return Entry{}, nil
	}
	entry := line.entry
	sr.log = sr.log || entry.Header != nil && entry.Header.Config.Traits.Piped
	if entry != (Entry{}) && !sr.seen.add(line.hash) {
		sr.Repeated++
		return Entry{}, nil
	}
	return entry, nil
}

// skip ignores a line that belongs to no stream.
func (sr *Reader) skip(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		sr.Skipped++
	}
	if sr.foreign != nil {
		sr.foreign(string(line))
	}
}

// maxNamed is how many damaged lines are named; the others are only counted.
const maxNamed = 5

// damaged counts a message of the stream that cannot be read, and the line where it
// begins.
func (sr *Reader) damaged(line int) {
	if sr.Damaged++; sr.Damaged <= maxNamed {
		sr.damage = append(sr.damage, line)
	}
}

// damagedLines counts the damaged lines, and names the first of them.
func (sr *Reader) damagedLines() string {
	var names []string
	for _, n := range slices.Sorted(slices.Values(sr.damage)) {
		names = append(names, sr.place(n))
	}
	if more := sr.Damaged - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return metrics.Counted(sr.Damaged, "torn or damaged line") + " of the stream: " + strings.Join(names, ", ")
}

// warnings are the warnings about the stream so far.
func (sr *Reader) warnings() []string {
	var w []string
	if sr.spoilt != nil {
		w = sr.spoilt()
	}
	if sr.Damaged > 0 {
		w = append(w, "left out "+sr.damagedLines())
	}
	if sr.Repeated > 0 {
		w = append(w, "ignored "+metrics.Counted(sr.Repeated, "line")+" that the stream repeats")
	}
	if sr.Skipped > 0 && !sr.log {
		w = append(w, "skipped "+metrics.Counted(sr.Skipped, "line")+" of other programs in the stream")
	}
	return w
}

// join adds a piece to its message and returns the message once it is complete.
func (sr *Reader) join(part *partLine) (whole []byte, kind string) {
	key := message{part.Run, part.Shard, part.Message}
	p := sr.parts[key]
	if p != nil && part.Part == 0 {
		// A copy of the stream begins where the previous one was cut.
		sr.damaged(p.line)
		p = nil
	}
	if p == nil {
		p = &partial{line: sr.number, kind: part.Kind}
		sr.parts[key] = p
	}
	if part.Part != p.next || p.text.Len()+len(part.Text) > maxMessage {
		delete(sr.parts, key)
		sr.damaged(sr.number)
		return nil, ""
	}
	p.text.WriteString(part.Text)
	p.next++
	if p.next < part.Parts {
		return nil, ""
	}
	delete(sr.parts, key)
	return []byte(p.text.String()), p.kind
}

func decode(head lineHead, line []byte) (Entry, error) {
	if digits := mostDigits[head.Kind]; digits > 0 && hasLonger(line, digits) {
		return Entry{}, errHuge
	}
	e := Entry{Run: head.Run, Shard: head.Shard}
	switch head.Kind {
	case kindRun:
		e.Header = &metrics.Header{}
		if err := json.Unmarshal(line, e.Header); err != nil {
			return Entry{}, err
		}
		e.Header.Run, e.Header.Shard = head.Run, head.Shard
	case kindReq:
		e.Record = &record.Record{Run: head.Run}
		if err := record.Parse(line, e.Record); err != nil {
			return Entry{}, err
		}
	case kindSample:
		e.Sample = &samples.Sample{}
		if err := json.Unmarshal(line, e.Sample); err != nil {
			return Entry{}, err
		}
	case kindEnd:
		e.End = &metrics.End{}
		if err := json.Unmarshal(line, e.End); err != nil {
			return Entry{}, err
		}
	default:
		return Entry{}, nil
	}
	return e, nil
}

// maxTextLine is the longest line of text to look at; progress bars that rewrite their line make
// long ones.
const maxTextLine = 16 << 20
