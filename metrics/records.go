package metrics

import (
	"encoding/binary"
	"iter"
	"time"
)

// Records are Records in memory, packed: some 80 bytes a request, 30 for its Session, and what its stamps
// and its texts take. They have no Asked, which nothing that is made of them needs. The zero value is
// empty.
type Records struct {
	n      int
	blocks [][]byte       // packed records, one after the other; none crosses a block
	names  []string       // what is the same in many records
	known  map[string]int // their positions in names
	rare   []rareParts

	// The record that is being packed, its parts, and the result: kept for reuse.
	record *Record
	parts  recordFields
	packed []byte
}

// rareParts are what few records have.
type rareParts struct {
	withOutput, until032 *Tokens
	tokensPerChunk       []int
	server               *ServerTimes
	payload              *Payload
}

// Blocks are small first, since most runs are.
const (
	leastBlock = 4 << 10
	mostBlock  = 1 << 20
)

// Len is the number of records.
func (p *Records) Len() int { return p.n }

// keep adds a copy of r, which shares r's slices of counts and its pointers.
func (p *Records) keep(r *Record) { p.add(p.pack(r)) }

// all yields the records in the order in which they were added. Each is valid until the next.
func (p *Records) all() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		r := new(Record)
		all := partsOf(r)
		for _, block := range p.blocks {
			for len(block) > 0 {
				u := unpacker{block}
				p.unpack(&u, r, &all)
				if block = u.left; !yield(r) {
					return
				}
			}
		}
	}
}

// add adds a packed record.
func (p *Records) add(packed []byte) {
	last := len(p.blocks) - 1
	if last < 0 || cap(p.blocks[last])-len(p.blocks[last]) < len(packed) {
		size := leastBlock
		if last >= 0 {
			size = min(2*cap(p.blocks[last]), mostBlock)
		}
		p.blocks = append(p.blocks, make([]byte, 0, max(size, len(packed))))
		last++
	}
	p.blocks[last] = append(p.blocks[last], packed...)
	p.n++
}

// pack packs r, valid until the next call: a word that says which parts follow, and the parts.
func (p *Records) pack(r *Record) []byte {
	if p.record == nil {
		p.record = new(Record)
		p.parts = partsOf(p.record)
	}
	*p.record = *r
	var empty [maskSize]byte
	b := append(p.packed[:0], empty[:]...)
	var mask uint64
	bit := uint64(1)
	part := func(there bool) bool {
		if there {
			mask |= bit
		}
		bit <<= 1
		return there
	}
	before := time.Duration(0)
	for _, at := range p.parts.moments {
		if part(*at != 0) {
			b = binary.AppendVarint(b, int64(*at-before))
			before = *at
		}
	}
	for _, took := range p.parts.lengths {
		if part(*took != 0) {
			b = binary.AppendVarint(b, int64(*took))
		}
	}
	for _, n := range p.parts.counts {
		if part(*n != 0) {
			b = binary.AppendVarint(b, int64(*n))
		}
	}
	for _, name := range p.parts.names {
		if part(*name != "") {
			b = binary.AppendUvarint(b, uint64(p.name(*name)))
		}
	}
	for _, text := range p.parts.texts {
		if part(*text != "") {
			b = append(binary.AppendUvarint(b, uint64(len(*text))), *text...)
		}
	}
	for _, bytes := range p.parts.bytes {
		if part(len(*bytes) > 0) {
			b = append(binary.AppendUvarint(b, uint64(len(*bytes))), *bytes...)
		}
	}
	for _, flag := range p.parts.flags {
		part(*flag)
	}
	if part(r.Session != nil) {
		b = r.Session.pack(b, p, r.Due)
	}
	if rare := (rareParts{r.WithOutput, r.Until032, r.TokensPerChunk, r.Server, r.Payload}); part(rare.any()) {
		b = binary.AppendUvarint(b, uint64(len(p.rare)))
		p.rare = append(p.rare, rare)
	}
	binary.LittleEndian.PutUint64(b, mask)
	p.packed = b
	return b
}

// maskSize is the size of the word that opens a packed record.
const maskSize = 8

// unpack reads a packed record into r, of which all are the parts.
func (p *Records) unpack(u *unpacker, r *Record, all *recordFields) {
	*r = Record{}
	mask := binary.LittleEndian.Uint64(u.left)
	u.left = u.left[maskSize:]
	part := func() bool {
		there := mask&1 == 1
		mask >>= 1
		return there
	}
	before := time.Duration(0)
	for _, at := range all.moments {
		if part() {
			before += time.Duration(u.int())
			*at = before
		}
	}
	for _, took := range all.lengths {
		if part() {
			*took = time.Duration(u.int())
		}
	}
	for _, n := range all.counts {
		if part() {
			*n = int(u.int())
		}
	}
	for _, name := range all.names {
		if part() {
			*name = p.names[u.uint()]
		}
	}
	for _, text := range all.texts {
		if part() {
			*text = string(u.bytes())
		}
	}
	for _, bytes := range all.bytes {
		if part() {
			*bytes = u.bytes()
		}
	}
	for _, flag := range all.flags {
		*flag = part()
	}
	if part() {
		r.Session = u.step(p, r.Due)
	}
	if part() {
		rare := p.rare[u.uint()]
		r.WithOutput, r.Until032, r.TokensPerChunk = rare.withOutput, rare.until032, rare.tokensPerChunk
		r.Server, r.Payload = rare.server, rare.payload
	}
}

// recordFields are the fields of a Record by their kinds, except its Session and rareParts, in the order in
// which they are packed. Successive moments are close to each other.
type recordFields struct {
	moments []*time.Duration
	lengths []*time.Duration
	counts  []*int
	names   []*string // that many records share
	texts   []*string
	bytes   []*[]byte // that nobody changes
	flags   []*bool
}

func partsOf(r *Record) recordFields {
	return recordFields{
		moments: []*time.Duration{&r.Due, &r.Slot, &r.Sent, &r.Wrote, &r.FirstByte, &r.Chunks.first, &r.FirstContent,
			&r.FirstOutput, &r.Blank.first,
			&r.Chunks.last, &r.Last, &r.Blank.last, &r.Trailer, &r.LastByte, &r.End},
		lengths: []*time.Duration{&r.Conn.DNS, &r.Conn.Connect, &r.Conn.Proxy, &r.Conn.TLS, &r.MaxAge, &r.Waited},
		counts: []*int{&r.Index, &r.Turn, &r.Attempts, &r.Reconnects, &r.Chunks.n, &r.Blank.n, &r.SharedReads,
			&r.In, &r.InAsked, &r.Cached, &r.Out, &r.OutReasoned, &r.OutAsked, &r.Status},
		names: []*string{&r.Run, &r.Target, &r.Adapter, (*string)(&r.Phase), &r.Differs, &r.Finish, (*string)(&r.Class)},
		texts: []*string{&r.ID, &r.Error, &r.Text, &r.Reply, &r.Reasoning},
		bytes: []*[]byte{&r.Chunks.deltas, &r.Blank.deltas, (*[]byte)(&r.Late), (*[]byte)(&r.Calls)},
		flags: []*bool{&r.Conn.New, &r.Uncounted, &r.Uncached, &r.Reasoned, &r.Unstreamed},
	}
}

func (p rareParts) any() bool {
	return p.withOutput != nil || p.until032 != nil || p.tokensPerChunk != nil || p.server != nil || p.payload != nil
}

// name is the position of a name.
func (p *Records) name(s string) int {
	i, known := p.known[s]
	if !known {
		if p.known == nil {
			p.known = map[string]int{}
		}
		i = len(p.names)
		p.names = append(p.names, s)
		p.known[s] = i
	}
	return i
}

// An unpacker reads the parts of a packed record.
type unpacker struct{ left []byte }

func (u *unpacker) int() int64 {
	v, n := binary.Varint(u.left)
	u.left = u.left[n:]
	return v
}

func (u *unpacker) uint() uint64 {
	v, n := binary.Uvarint(u.left)
	u.left = u.left[n:]
	return v
}

// bytes are part of the block: nobody changes them.
func (u *unpacker) bytes() []byte {
	n := u.uint()
	b := u.left[:n:n]
	u.left = u.left[n:]
	return b
}

// merge adds the records of another, whose clock began that much later.
func (p *Records) merge(other *Records, later time.Duration) {
	for r := range other.all() {
		r.Shift(later)
		p.keep(r)
	}
}
