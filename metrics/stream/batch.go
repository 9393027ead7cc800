package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"iter"
	"runtime"
	"sync"

	"github.com/servebench/servebench/metrics/record"
)

// A batch is some successive lines of a stream, and what each says. One goroutine splits the stream
// into batches, others parse them, and the first goes on with what they say, in order.
type batch struct {
	text   []byte
	ends   []int // of each line in text
	err    error // why no line follows; nil if one may
	said   []said
	ready  chan struct{} // receives once said is complete
	parser parser
}

// batchSize is how many bytes of lines a batch has, or one line more.
const batchSize = 256 << 10

// mostParsers is how many goroutines parse at most: more are faster than what they say is summed up.
const mostParsers = 8

// batches yields the stream's lines, parsed. Several goroutines parse the next batches meanwhile;
// none of them reads, so none is left behind.
func (sr *Reader) batches() iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		workers := min(runtime.GOMAXPROCS(0), mostParsers)
		work := make(chan *batch, 2*workers)
		var parsers sync.WaitGroup
		defer parsers.Wait()
		defer close(work)
		for range workers {
			parsers.Go(func() {
				for b := range work {
					b.parse()
				}
			})
		}
		free, more := make([]*batch, 0, 2*workers), true
		for range cap(free) {
			free = append(free, &batch{ready: make(chan struct{}, 1), parser: newParser(sr.seed, sr.lend)})
		}
		var pending []*batch // in the order of the stream
		for {
			for more && len(free) > 0 {
				b := free[0]
				b.fill(sr.r)
				more = b.err == nil
				free, pending = free[1:], append(pending, b)
				work <- b
			}
			if len(pending) == 0 {
				return
			}
			b := pending[0]
			<-b.ready
			if !yield(b) {
				return
			}
			free, pending = append(free, b), pending[1:]
		}
	}
}

// fill reads lines into the batch, in place of its earlier ones.
func (b *batch) fill(r *bufio.Reader) {
	b.text, b.ends, b.err = b.text[:0], b.ends[:0], nil
	for b.err == nil && len(b.text) < batchSize {
		b.err = b.line(r)
		b.ends = append(b.ends, len(b.text))
	}
}

// line reads a line. If the line is too long, it keeps the beginning.
func (b *batch) line(r *bufio.Reader) error {
	from := len(b.text)
	for {
		piece, err := r.ReadSlice('\n')
		limit := maxTextLine
		if bytes.HasPrefix(b.text[from:], streamMark) {
			limit = maxMessage
		}
		b.text = append(b.text, piece[:min(len(piece), limit-(len(b.text)-from))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// parse reads what the lines say.
func (b *batch) parse() {
	b.said = b.said[:0]
	b.parser.begin(len(b.ends))
	from := 0
	for _, end := range b.ends {
		b.said = append(b.said, b.parser.parse(b.text[from:end]))
		from = end
	}
	b.ready <- struct{}{}
}

// raw is line i.
func (b *batch) raw(i int) []byte {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.text[from:b.ends[i]]
}

// said is what one line says, whatever the lines around it.
type said struct {
	foreign bool      // the line belongs to no stream
	torn    bool      // the line cannot be read
	head    lineHead  // unless it is foreign, or torn too early
	part    *partLine // it is a piece of a message; nil if not
	entry   Entry     // zero if there is nothing to report
	hash    uint64    // of the message
}

// A parser reads single lines.
type parser struct {
	seed    maphash.Seed
	lend    bool // records are valid until begin is called again
	scanner record.Scanner
	slab    []record.Record
	records []record.Record // the free ones of the slab
}

func newParser(seed maphash.Seed, lend bool) parser {
	return parser{seed: seed, lend: lend}
}

// begin prepares for that many lines.
func (p *parser) begin(lines int) {
	if !p.lend {
		p.slab = nil
	}
	if len(p.slab) < lines {
		p.slab = make([]record.Record, lines)
	}
	p.records = p.slab
	p.scanner.Reuse(!p.lend)
}

// parse reads a line.
func (p *parser) parse(raw []byte) said {
	line := bytes.TrimSpace(raw)
	if !bytes.HasPrefix(line, streamMark) {
		at := insideMark.FindIndex(line)
		if at == nil {
			return said{foreign: true}
		}
		line = line[at[0]:]
	}
	if head, r := p.request(line); r != nil {
		return said{head: head, entry: Entry{Run: head.Run, Shard: head.Shard, Record: r}, hash: maphash.Bytes(p.seed, line)}
	}
	var part partLine
	switch err := json.Unmarshal(line, &part); {
	case err != nil:
		return said{torn: true}
	case !part.known():
		return said{head: part.lineHead}
	case part.Parts > 0:
		return said{head: part.lineHead, part: &part}
	}
	return p.whole(part.lineHead, line)
}

// whole reads a message with that head.
func (p *parser) whole(head lineHead, line []byte) said {
	entry, err := decode(head, line)
	return said{head: head, torn: err != nil, entry: entry, hash: maphash.Bytes(p.seed, line)}
}

// request reads a line of a request in the Writer's form. For any other line it returns nil.
func (p *parser) request(line []byte) (lineHead, *record.Record) {
	s := &p.scanner
	s.Begin(line)
	head := lineHead{V: streamVersion, Kind: kindReq}
	s.Expect(requestMark)
	head.Run = s.Name()
	if s.Has(`,"s":`) {
		head.Shard = s.Int()
	}
	if s.Expect(","); s.Failed() {
		return head, nil
	}
	r := &p.records[0]
	if *r = (record.Record{}); !s.Record(r) {
		return head, nil
	}
	p.records = p.records[1:]
	r.Run = head.Run
	return head, r
}
