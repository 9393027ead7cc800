package sound

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// errMP3 says that a file with the name or the mark of MP3 has no frame of it.
var errMP3 = errors.New("an MP3 file without a frame of MPEG audio, layer III")

// isMP3 reports whether a file begins as MP3 does: with a tag, or with a frame.
func isMP3(file []byte) bool {
	_, ok := parseFrame(file)
	return ok || bytes.HasPrefix(file, []byte("ID3"))
}

// A frame is the header of a frame of MPEG audio, layer III.
type frame struct {
	rate, channels int
	samples        int // of each channel
	size           int // bytes, with the header
	header         int // bytes before the sound: the header and what follows it at once
}

// The rates of bits in thousands a second, and of samples a second, by their codes in a header.
var (
	bitRates1   = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	bitRates2   = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160} // MPEG 2 and 2.5
	sampleRates = [4][3]int{0: {11025, 12000, 8000}, 2: {22050, 24000, 16000}, 3: {44100, 48000, 32000}}
)

// parseFrame reads the header that b begins with: ISO/IEC 11172-3, section 2.4.1.3.
func parseFrame(b []byte) (f frame, ok bool) {
	const layer3 = 1
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 || b[1]>>1&3 != layer3 || b[2]>>2&3 == 3 {
		return f, false
	}
	version, mono := b[1]>>3&3, b[3]>>6 == 3
	f = frame{rate: sampleRates[version][b[2]>>2&3], channels: 2, samples: 576, header: 4 + 17}
	bits := bitRates2[b[2]>>4]
	if version == 3 { // MPEG 1
		f.samples, f.header, bits = 1152, 4+32, bitRates1[b[2]>>4]
	}
	if mono {
		f.channels, f.header = 1, f.header-8
		if version == 3 {
			f.header -= 7
		}
	}
	if f.rate == 0 || bits == 0 {
		return f, false
	}
	f.size = f.samples/8*bits*1000/f.rate + int(b[2]>>1&1)
	return f, true
}

// mp3Form is what the frames of an MP3 file say. If an encoder wrote how many frames there are, and what
// it added at the ends, that counts, as for libsndfile. Otherwise all frames count.
func mp3Form(file []byte) (form, error) {
	file = afterTag(file)
	for len(file) > 0 {
		first, ok := parseFrame(file)
		if !ok {
			file = file[1:]
			continue
		}
		f := form{rate: first.rate, channels: first.channels}
		if n, told := first.told(file); told {
			f.frames = n
		} else {
			f.frames = scanned(file)
		}
		if f.frames <= 0 {
			return f, errEmpty
		}
		return f, nil
	}
	return form{}, errMP3
}

// afterTag is a file after its ID3 tag: https://id3.org/id3v2.4.0-structure.
func afterTag(file []byte) []byte {
	if len(file) < 10 || !bytes.HasPrefix(file, []byte("ID3")) {
		return file
	}
	size := 10
	for i, b := range file[6:10] {
		size += int(b&0x7f) << (7 * (3 - i))
	}
	return file[min(size, len(file)):]
}

// told is the number of samples that the first frame tells, in the tags of Xing and LAME.
func (f *frame) told(file []byte) (samples int64, ok bool) {
	const hasFrames, hasBytes, hasTable, hasQuality = 1, 2, 4, 8
	tag := file[min(f.header, len(file)):]
	if len(tag) < 12 || string(tag[:4]) != "Xing" && string(tag[:4]) != "Info" {
		return 0, false
	}
	flags := binary.BigEndian.Uint32(tag[4:])
	if flags&hasFrames == 0 {
		return 0, false
	}
	samples = int64(binary.BigEndian.Uint32(tag[8:])) * int64(f.samples)
	after := 12
	for flag, size := range map[uint32]int{hasBytes: 4, hasTable: 100, hasQuality: 4} {
		if flags&flag != 0 {
			after += size
		}
	}
	const delays = 21 // where LAME's tag says what was added at both ends, in 12 bits each
	if len(tag) < after+delays+3 || tag[after] == 0 {
		return samples, true
	}
	added := tag[after+delays:]
	return samples - int64(int(added[0])<<4|int(added[1])>>4) - int64(int(added[1])&0xf<<8|int(added[2])), true
}

// scanned is the number of samples in the frames of a file that begins with one.
func scanned(file []byte) (samples int64) {
	for len(file) > 0 {
		f, ok := parseFrame(file)
		if !ok {
			file = file[1:]
			continue
		}
		samples += int64(f.samples)
		file = file[min(f.size, len(file)):]
	}
	return samples
}
