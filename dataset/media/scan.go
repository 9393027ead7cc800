package media

// A bitReader reads the bits of a scan.
type bitReader struct {
	data  []byte
	at    int
	held  uint32 // its lowest count bits come next
	count int
	ended bool // a marker or the end of the file came; zeros follow
	short bool // that came too early
}

// bit is the next bit.
func (r *bitReader) bit() int32 {
	if r.count == 0 {
		r.held, r.count = r.next(), 8
	}
	r.count--
	return int32(r.held>>r.count) & 1
}

// next is the next byte, without stuffing.
func (r *bitReader) next() uint32 {
	if r.at >= len(r.data) || r.data[r.at] == 0xff && (r.at+1 >= len(r.data) || r.data[r.at+1] != 0) {
		r.ended, r.short = true, true
		return 0
	}
	b := r.data[r.at]
	if r.at++; b == 0xff {
		r.at++
	}
	return uint32(b)
}

// bits is the next n bits as a number.
func (r *bitReader) bits(n int) (v int32) {
	for range n {
		v = v<<1 | r.bit()
	}
	return v
}

// number is a coefficient of n bits.
func (r *bitReader) number(n int) int32 {
	v := r.bits(n)
	if n > 0 && v < 1<<(n-1) {
		v += 1 - 1<<n
	}
	return v
}

// A decodingTable finds the symbol of a code.
type decodingTable struct {
	symbols []byte
	first   [16]int32 // the first code of each length
	start   [16]int   // the symbol of that code
	count   [16]int
}

func newDecodingTable(counts [16]byte, symbols []byte) *decodingTable {
	t := &decodingTable{symbols: symbols}
	code, k := int32(0), 0
	for i, n := range counts {
		t.first[i], t.start[i], t.count[i] = code, k, int(n)
		k += int(n)
		code = (code + int32(n)) << 1
	}
	return t
}

// symbol is the next symbol; 0 if the bits are no code.
func (r *bitReader) symbol(t *decodingTable) int {
	code := int32(0)
	for i := range t.count {
		code = code<<1 | r.bit()
		if k := int(code - t.first[i]); k >= 0 && k < t.count[i] {
			return int(t.symbols[t.start[i]+k])
		}
	}
	return 0
}

// A pass is what one scan adds: the coefficients from first to last, in zigzag order, and of these
// all bits down to low. high is 0 in the first scan of these coefficients.
type pass struct {
	first, last int
	high, low   int
	skip        int // blocks without further coefficients that follow
}

// scan reads a scan.
func (f *jpegFile) scan(s []byte) error {
	if len(s) < 1 || len(s) != 4+2*int(s[0]) || s[0] == 0 || len(f.components) == 0 {
		return errOther
	}
	var scanned []*channel
	for i := range int(s[0]) {
		for _, c := range f.components {
			if tables := s[2+2*i]; c.id == s[1+2*i] && tables&0xcc == 0 {
				c.dc, c.ac, c.before, c.scanned = f.huffman[0][tables>>4], f.huffman[1][tables&15], 0, true
				scanned = append(scanned, c)
			}
		}
	}
	tail := s[len(s)-3:]
	p := &pass{first: int(tail[0]), last: int(tail[1]), high: int(tail[2] >> 4), low: int(tail[2] & 15)}
	if !f.progressive {
		*p = pass{last: 63}
	}
	for _, c := range scanned {
		needed := p.first == 0 && p.high == 0 && c.dc == nil || p.last > 0 && c.ac == nil
		if needed || p.last > 63 || p.first > p.last || p.low > 13 || f.progressive && p.first == 0 && p.last > 0 {
			return errOther
		}
	}
	if len(scanned) != int(s[0]) || len(scanned) > 1 && p.first > 0 {
		return errOther
	}
	f.count, f.ended = 0, false
	f.read(p, scanned)
	return nil
}

// read reads the blocks of a scan: MCU by MCU, or those inside the image of a single component.
func (f *jpegFile) read(p *pass, scanned []*channel) {
	wide, high := f.mcusWide, f.mcusHigh
	alone := scanned[0]
	if len(scanned) == 1 {
		wide, high = alone.columns, alone.rows
	}
	for n := range wide * high {
		if f.restart > 0 && n > 0 && n%f.restart == 0 {
			f.resume(p, scanned)
		}
		x, y := n%wide, n/wide
		if len(scanned) == 1 {
			f.block(p, alone, &alone.blocks[y*alone.stride+x])
			continue
		}
		for _, c := range scanned {
			for i := range c.wide * c.high {
				f.block(p, c, &c.blocks[(y*c.high+i/c.wide)*c.stride+x*c.wide+i%c.wide])
			}
		}
	}
}

// resume goes on after a restart.
func (f *jpegFile) resume(p *pass, scanned []*channel) {
	for f.at+1 < len(f.data) && !(f.data[f.at] == 0xff && f.data[f.at+1] >= 0xd0 && f.data[f.at+1] <= 0xd7) {
		f.at++
	}
	f.at += 2
	f.count, f.ended, p.skip = 0, false, 0
	for _, c := range scanned {
		c.before = 0
	}
}

// block reads what the scan has of a block.
func (f *jpegFile) block(p *pass, c *channel, b *[64]int16) {
	if f.ended && f.count == 0 {
		return
	}
	first := p.first
	if first == 0 {
		if p.high == 0 {
			c.before += f.number(f.symbol(c.dc) & 15)
			b[0] = int16(c.before << p.low)
		} else if f.bit() == 1 {
			b[0] |= 1 << p.low
		}
		first = 1
	}
	switch {
	case first > p.last:
	case p.high == 0:
		f.coefficients(p, c, b, first)
	default:
		f.refine(p, c, b)
	}
}

// coefficients reads coefficients for the first time.
func (f *jpegFile) coefficients(p *pass, c *channel, b *[64]int16, first int) {
	if p.skip > 0 {
		p.skip--
		return
	}
	for k := first; k <= p.last; k++ {
		symbol := f.symbol(c.ac)
		zeros, size := symbol>>4, symbol&15
		if size == 0 {
			if zeros < 15 {
				p.skip = 1<<zeros + int(f.bits(zeros)) - 1
				return
			}
			k += 15
			continue
		}
		if k += zeros; k > p.last {
			return
		}
		b[zigzag[k]] = int16(f.number(size) << p.low)
	}
}

// refine reads one more bit of coefficients, and new ones of that size.
func (f *jpegFile) refine(p *pass, c *channel, b *[64]int16) {
	k := p.first
	for p.skip == 0 && k <= p.last {
		symbol := f.symbol(c.ac)
		zeros, fresh := symbol>>4, int16(0)
		switch size := symbol & 15; {
		case size > 0:
			fresh = int16(2*f.bit()-1) << p.low
		case zeros < 15:
			p.skip = 1<<zeros + int(f.bits(zeros))
			continue
		}
		if k = f.past(p, b, k, zeros); fresh != 0 && k <= p.last {
			b[zigzag[k]] = fresh
		}
		k++
		if f.ended && f.count == 0 {
			return
		}
	}
	if p.skip > 0 {
		f.past(p, b, k, 64)
		p.skip--
	}
}

// past refines coefficients from k on, up to the one after so many zeros.
func (f *jpegFile) past(p *pass, b *[64]int16, k, zeros int) int {
	for ; k <= p.last; k++ {
		v := &b[zigzag[k]]
		switch {
		case *v == 0:
			if zeros--; zeros < 0 {
				return k
			}
		case f.bit() == 0:
		case *v > 0:
			*v += 1 << p.low
		default:
			*v -= 1 << p.low
		}
	}
	return k
}
