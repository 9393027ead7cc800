package media

import (
	"encoding/binary"
	"errors"
	"image"
	"slices"
)

// errOther is of a JPEG file that decodeJPEG leaves to package image.
var errOther = errors.New("another form of JPEG")

// adobeColours is where Adobe's segment says which colours the components are; 1 is Y, Cb and Cr.
const adobeColours = 11

// zigzag is the order in which a file has the 64 values of a block.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
	55, 62, 63,
}

// A jpegFile is a JPEG file that is being decoded. It holds all coefficients, since the scans of a
// progressive file add to them.
type jpegFile struct {
	bitReader
	progressive   bool
	width, height int
	components    []*channel
	quantisation  [4][64]int32 // row by row
	huffman       [2][4]*decodingTable
	restart       int // MCUs between restarts; 0 for none
	mcusWide      int
	mcusHigh      int
}

// A channel is Y, Cb or Cr.
type channel struct {
	id, table     byte
	wide, high    int // blocks of an MCU
	columns, rows int // blocks inside the image
	stride        int // blocks of a row, including blocks of MCUs beyond the edge of the image
	blocks        [][64]int16
	dc, ac        *decodingTable
	before        int32 // the DC coefficient of the last block
	scanned       bool
}

// decodeJPEG decodes a baseline or progressive file of grey or of Y, Cb and Cr, with the cosine
// transform of the reference implementation. Its error only says that package image should look.
func decodeJPEG(file []byte) (*image.YCbCr, error) {
	f := &jpegFile{bitReader: bitReader{data: file, at: 2}}
	for {
		marker, segment, err := f.segment()
		if err != nil {
			return nil, err
		}
		switch {
		case marker == 0xd9:
			return f.planes()
		case marker == 0xda:
			err = f.scan(segment)
		case marker == 0xdb:
			err = f.takeQuantisation(segment)
		case marker == 0xc4:
			err = f.takeHuffman(segment)
		case marker >= 0xc0 && marker <= 0xc2:
			f.progressive = marker == 0xc2
			err = f.frame(segment)
		case marker > 0xc2 && marker <= 0xcf, marker == 0xee && len(segment) > adobeColours && segment[adobeColours] != 1:
			err = errOther // other codings, and other colours
		case marker == 0xdd && len(segment) == 2:
			f.restart = int(binary.BigEndian.Uint16(segment))
		}
		if err != nil {
			return nil, err
		}
	}
}

// segment is the next segment: its marker, and what it has.
func (f *jpegFile) segment() (marker byte, content []byte, err error) {
	for f.at+1 < len(f.data) {
		marker = f.data[f.at+1]
		if f.data[f.at] != 0xff || marker == 0 || marker == 0xff || marker >= 0xd0 && marker <= 0xd7 {
			f.at++
			continue
		}
		f.at += 2
		if marker == 0xd9 {
			return marker, nil, nil
		}
		if f.at+2 > len(f.data) {
			break
		}
		length := int(binary.BigEndian.Uint16(f.data[f.at:]))
		if length < 2 || f.at+length > len(f.data) {
			break
		}
		content = f.data[f.at+2 : f.at+length]
		f.at += length
		return marker, content, nil
	}
	return 0, nil, errOther
}

func (f *jpegFile) takeQuantisation(s []byte) error {
	for len(s) >= 65 && s[0] < 4 {
		for i, at := range zigzag {
			f.quantisation[s[0]][at] = int32(s[1+i])
		}
		s = s[65:]
	}
	if len(s) > 0 {
		return errOther
	}
	return nil
}

func (f *jpegFile) takeHuffman(s []byte) error {
	for len(s) >= 17 && s[0]&0xef < 4 {
		n := 0
		for _, count := range s[1:17] {
			n += int(count)
		}
		if len(s) < 17+n || n > 256 {
			return errOther
		}
		f.huffman[s[0]>>4][s[0]&15] = newDecodingTable([16]byte(s[1:17]), s[17:17+n])
		s = s[17+n:]
	}
	if len(s) > 0 {
		return errOther
	}
	return nil
}

// frame reads the size and the components.
func (f *jpegFile) frame(s []byte) error {
	if f.components != nil || len(s) < 6 || s[0] != 8 || s[5] != 1 && s[5] != 3 || len(s) != 6+3*int(s[5]) {
		return errOther
	}
	f.height, f.width = int(binary.BigEndian.Uint16(s[1:])), int(binary.BigEndian.Uint16(s[3:]))
	most := [2]int{1, 1}
	for s := s[6:]; len(s) > 0; s = s[3:] {
		c := &channel{id: s[0], wide: int(s[1] >> 4), high: int(s[1] & 15), table: s[2]}
		if c.wide < 1 || c.wide > 2 || c.high < 1 || c.high > 2 || c.table > 3 {
			return errOther
		}
		most[0], most[1] = max(most[0], c.wide), max(most[1], c.high)
		f.components = append(f.components, c)
	}
	first := f.components[0]
	if len(f.components) == 1 {
		first.wide, first.high, most = 1, 1, [2]int{1, 1} // its MCU is one block in any case
	}
	for i, c := range f.components {
		if i > 0 && (c.wide != 1 || c.high != 1) || i == 0 && (c.wide != most[0] || c.high != most[1]) {
			return errOther
		}
	}
	if f.width < 1 || f.height < 1 || first.id == 'R' {
		return errOther
	}
	f.mcusWide, f.mcusHigh = upTo(f.width, 8*most[0]), upTo(f.height, 8*most[1])
	for _, c := range f.components {
		c.columns, c.rows = upTo(f.width*c.wide, 8*most[0]), upTo(f.height*c.high, 8*most[1])
		c.stride = f.mcusWide * c.wide
		c.blocks = make([][64]int16, c.stride*f.mcusHigh*c.high)
	}
	return nil
}

// upTo is n/d, rounded up.
func upTo(n, d int) int { return (n + d - 1) / d }

// planes are the samples of all components.
func (f *jpegFile) planes() (*image.YCbCr, error) {
	if f.components == nil || f.short || slices.ContainsFunc(f.components, func(c *channel) bool { return !c.scanned }) {
		return nil, errOther
	}
	y := f.components[0]
	ratio := map[[2]int]image.YCbCrSubsampleRatio{
		{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {1, 2}: image.YCbCrSubsampleRatio440,
		{2, 2}: image.YCbCrSubsampleRatio420,
	}[[2]int{y.wide, y.high}]
	img := &image.YCbCr{Rect: image.Rect(0, 0, f.width, f.height), SubsampleRatio: ratio, YStride: 8 * y.stride,
		Y: y.samples(&f.quantisation)}
	if len(f.components) == 1 {
		img.CStride, img.Cb = 8*y.stride, make([]byte, len(img.Y))
		for i := range img.Cb {
			img.Cb[i] = 128
		}
		img.Cr = img.Cb
		return img, nil
	}
	img.CStride = 8 * f.components[1].stride
	img.Cb, img.Cr = f.components[1].samples(&f.quantisation), f.components[2].samples(&f.quantisation)
	return img, nil
}

// samples are the samples of all blocks.
func (c *channel) samples(tables *[4][64]int32) []byte {
	all := make([]byte, 64*len(c.blocks))
	for i := range c.blocks {
		var b block
		for k, v := range c.blocks[i] {
			b[k] = int32(v) * tables[c.table][k]
		}
		b.restore(all[i/c.stride*64*c.stride+i%c.stride*8:], 8*c.stride)
	}
	return all
}
