package record

import (
	"encoding/binary"
	"iter"
	"math"
	"time"
)

// Packed is Records in memory, packed: some 80 bytes a request, 30 for its Session, and what its stamps
// and its texts take. They have no Asked, which nothing that is made of them needs. The zero value is
// empty.
type Packed struct {
	n      int
	blocks [][]byte       // packed records, one after the other; none crosses a block
	names  []string       // what is the same in many records
	known  map[string]int // their positions in names
	packed []byte         // the result of Pack, kept for reuse
}

// Blocks are small first, since most runs are.
const (
	leastBlock = 4 << 10
	mostBlock  = 1 << 20
)

// Len is the number of records.
func (p *Packed) Len() int { return p.n }

// keep adds a copy of r.
func (p *Packed) keep(r *Record) { p.Add(p.Pack(r)) }

// All yields the records in the order in which they were added. Each is valid until the next.
func (p *Packed) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		r := new(Record)
		for _, block := range p.blocks {
			for u := (unpacker{block}); len(u.left) > 0; {
				*r = Record{}
				if p.unpack(&u, table, r); !yield(r) {
					return
				}
			}
		}
	}
}

// Add adds what Pack returned.
func (p *Packed) Add(packed []byte) {
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

// Merge adds the records of another, whose clock began that much later.
func (p *Packed) Merge(other *Packed, later time.Duration) {
	for r := range other.All() {
		r.Shift(later)
		p.keep(r)
	}
}

// Pack packs r, valid until the next call.
func (p *Packed) Pack(r *Record) []byte {
	p.packed = p.pack(p.packed[:0], table, r)
	return p.packed
}

// maskSize is the size of the bytes that open the fields of a record, or of an object in it: a bit for each field says
// whether it follows.
func maskSize(fields []Field) int { return (len(fields) + 7) / 8 }

// pack appends fields of r.
func (p *Packed) pack(b []byte, fields []Field, r *Record) []byte {
	start := len(b)
	b = append(b, make([]byte, maskSize(fields))...)
	for i := range fields {
		f, before := &fields[i], len(b)
		there := false
		switch f.kind {
		default:
			var v int64
			if v, there = f.integer(r); there {
				b = binary.AppendVarint(b, v)
			}
		case kindFlag:
			there = *f.flag(r)
		case kindSign:
			there = f.there(r)
		case kindText:
			b = appendBytes(b, *f.text(r))
		case kindName:
			if name := *f.text(r); name != "" {
				b = binary.AppendUvarint(b, uint64(p.name(name)))
			}
		case kindBytes, kindJSON:
			if !f.lines {
				b = appendBytes(b, *f.bytes(r))
			}
		case kindList:
			b = appendList(b, *f.list(r))
		case kindNumber:
			if v := *f.number(r); v != nil {
				b = appendNumberBits(b, *v)
			}
		case kindAmount:
			if v := *f.amount(r); v != 0 {
				b = appendNumberBits(b, v)
			}
		case kindObject:
			if f.there(r) {
				b = p.pack(b, f.fields, r)
			}
		}
		if there || len(b) > before {
			b[start+i/8] |= 1 << (i % 8)
		}
	}
	return b
}

func appendNumberBits(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func appendBytes[T string | []byte](b []byte, text T) []byte {
	if len(text) == 0 {
		return b
	}
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendList(b []byte, list []int) []byte {
	if len(list) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, n := range list {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

// unpack reads fields into r.
func (p *Packed) unpack(u *unpacker, fields []Field, r *Record) {
	mask := u.left
	u.left = u.left[maskSize(fields):]
	for i := range fields {
		f := &fields[i]
		if mask[i/8]>>(i%8)&1 == 0 {
			f.lack(r)
			continue
		}
		switch f.kind {
		default:
			f.setInteger(r, u.int())
		case kindFlag:
			*f.flag(r) = true
		case kindSign:
			f.make(r)
		case kindText:
			*f.text(r) = string(u.bytes())
		case kindName:
			*f.text(r) = p.names[u.uint()]
		case kindBytes, kindJSON:
			*f.bytes(r) = u.bytes()
		case kindList:
			*f.list(r) = u.list()
		case kindNumber:
			*f.number(r) = new(u.number())
		case kindAmount:
			*f.amount(r) = u.number()
		case kindObject:
			f.make(r)
			p.unpack(u, f.fields, r)
		}
	}
}

// name is the position of a name.
func (p *Packed) name(s string) int {
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

func (u *unpacker) list() []int {
	list := make([]int, u.uint())
	for i := range list {
		list[i] = int(u.int())
	}
	return list
}

func (u *unpacker) number() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(u.left))
	u.left = u.left[8:]
	return v
}
