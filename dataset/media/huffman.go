package media

import (
	"encoding/binary"
	"math/bits"
)

// A code is the bits for one symbol, at most 16; its length is 0 if the symbol does not occur.
type code struct {
	bits   uint32
	length uint8
}

// A huffmanTable is a table of codes as JPEG files have it.
type huffmanTable struct {
	counts  [16]byte // codes of 1 to 16 bits
	symbols []byte   // in the order of their codes
	codes   [256]code
}

// newHuffmanTable numbers the codes as ITU-T T.81, annex C, says.
func newHuffmanTable(counts [16]byte, symbols []byte) *huffmanTable {
	t := &huffmanTable{counts: counts, symbols: symbols}
	next, k := uint32(0), 0
	for i, n := range counts {
		for range n {
			t.codes[symbols[k]] = code{next, uint8(i + 1)}
			next++
			k++
		}
		next <<= 1
	}
	return t
}

// The tables of ITU-T T.81, K.3.
var (
	lumaDC   = newHuffmanTable([16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, dcSymbols)
	chromaDC = newHuffmanTable([16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, dcSymbols)
	lumaAC   = newHuffmanTable([16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d}, []byte(
		"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0"+
			"\x24\x33\x62\x72\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49"+
			"\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x83\x84\x85\x86\x87\x88\x89"+
			"\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5"+
			"\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8"+
			"\xf9\xfa"))
	chromaAC = newHuffmanTable([16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77}, []byte(
		"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0"+
			"\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26\x27\x28\x29\x2a\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48"+
			"\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x82\x83\x84\x85\x86\x87"+
			"\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3"+
			"\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf2\xf3\xf4\xf5\xf6\xf7\xf8"+
			"\xf9\xfa"))

	dcSymbols = []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
)

// A bitWriter appends bits to a JPEG file.
type bitWriter struct {
	out   []byte
	held  uint64 // its lowest count bits are not written yet
	count uint
}

// write appends the last length bits of v, at most 32.
func (w *bitWriter) write(v uint32, length uint) {
	w.held = w.held<<length | uint64(v)
	if w.count += length; w.count < 32 {
		return
	}
	w.count -= 32
	if word := uint32(w.held >> w.count); (^word-0x01010101)&word&0x80808080 == 0 { // no byte is 0xff
		w.out = binary.BigEndian.AppendUint32(w.out, word)
		return
	}
	w.count += 32
	w.flush()
}

// flush writes all whole bytes.
func (w *bitWriter) flush() {
	for w.count >= 8 {
		w.count -= 8
		b := byte(w.held >> w.count)
		w.out = append(w.out, b)
		if b == 0xff {
			w.out = append(w.out, 0) // so that it does not begin a marker
		}
	}
}

// end fills the last byte with ones.
func (w *bitWriter) end() []byte {
	if free := 7 - (w.count+7)%8; free > 0 {
		w.held, w.count = w.held<<free|(1<<free-1), w.count+free
	}
	w.flush()
	return w.out
}

// number appends the code of the zeros before a coefficient and its size, and then the coefficient.
func (w *bitWriter) number(t *huffmanTable, zeros int, v int32) {
	size, below := bits.Len32(uint32(v)), v
	if v < 0 {
		size, below = bits.Len32(uint32(-v)), v-1
	}
	c := t.codes[zeros<<4|size]
	w.write(c.bits<<size|uint32(below)&(1<<size-1), uint(c.length)+uint(size))
}

// coefficients appends a block whose DC coefficient differs by dc from the block before.
func (w *bitWriter) coefficients(zigzagged *block, dc int32, dcTable, acTable *huffmanTable) {
	w.number(dcTable, 0, dc)
	zeros := 0
	for _, v := range zigzagged[1:] {
		if v == 0 {
			zeros++
			continue
		}
		for ; zeros > 15; zeros -= 16 {
			w.write(acTable.codes[0xf0].bits, uint(acTable.codes[0xf0].length))
		}
		w.number(acTable, zeros, v)
		zeros = 0
	}
	if zeros > 0 {
		w.write(acTable.codes[0].bits, uint(acTable.codes[0].length))
	}
}
