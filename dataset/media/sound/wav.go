package sound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The formats of WAV files.
const (
	formatPCM        = 1
	formatFloat      = 3
	formatALaw       = 6
	formatMuLaw      = 7
	formatExtensible = 0xfffe
)

// maxChannels is how many channels libsndfile accepts.
const maxChannels = 1024

// A wav is a WAV file, split into its parts.
type wav struct {
	format, channels, rate, bits int
	data                         []byte // whole frames only
}

// parseWAV finds the parts of a WAV file that a sound is made of.
func parseWAV(file []byte) (*wav, error) {
	if len(file) < 12 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WAVE" {
		return nil, errFormat
	}
	w := new(wav)
	for rest := file[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:]
		body = body[:min(size, int64(len(body)))]
		switch name {
		case "fmt ":
			if err := w.readFormat(body); err != nil {
				return nil, err
			}
		case "data":
			return w, w.take(body)
		}
		rest = rest[8:]
		rest = rest[min(size+size%2, int64(len(rest))):]
	}
	return nil, errors.New("a WAV file without a data chunk")
}

// readFormat reads the fmt chunk.
func (w *wav) readFormat(b []byte) error {
	if len(b) < 16 {
		return errors.New("a WAV file with a fmt chunk of less than 16 bytes")
	}
	short := func(at int) int { return int(binary.LittleEndian.Uint16(b[at:])) }
	w.format, w.channels, w.bits = short(0), short(2), short(14)
	w.rate = int(binary.LittleEndian.Uint32(b[4:]))
	if w.format == formatExtensible && len(b) >= 26 {
		w.format = short(24)
	}
	switch {
	case w.channels < 1 || w.channels > maxChannels:
		return fmt.Errorf("a WAV file with %d channels", w.channels)
	case w.rate < 1 || w.rate > math.MaxInt32:
		return fmt.Errorf("a WAV file with %d samples a second", w.rate)
	case w.decoder() == nil:
		return fmt.Errorf("a WAV file of format %d with %d bits: only PCM of 8 to 32 bits, floating point, A-law and "+
			"μ-law are known", w.format, w.bits)
	}
	return nil
}

// take takes the data chunk.
func (w *wav) take(data []byte) error {
	if w.channels == 0 {
		return errors.New("a WAV file without a fmt chunk before its data")
	}
	frame := w.channels * w.bits / 8
	w.data = data[:len(data)/frame*frame]
	if len(w.data) == 0 {
		return errEmpty
	}
	return nil
}

func (w *wav) form() form {
	return form{w.rate, w.channels, int64(len(w.data) / (w.channels * w.bits / 8))}
}

func (w *wav) sound() *Sound {
	size, decode := w.bits/8, w.decoder()
	s := &Sound{Rate: w.rate, Channels: w.channels, Samples: make([]float64, len(w.data)/size)}
	for i := range s.Samples {
		s.Samples[i] = decode(w.data[i*size:])
	}
	return s
}

// decoder returns what makes a sample of the bytes that begin with it; nil for an unknown format.
func (w *wav) decoder() func([]byte) float64 {
	switch [2]int{w.format, w.bits} {
	case [2]int{formatPCM, 8}:
		return func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }
	case [2]int{formatPCM, 16}:
		return func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) / (1 << 15) }
	case [2]int{formatPCM, 24}:
		return func(b []byte) float64 {
			return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}
	case [2]int{formatPCM, 32}:
		return func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) / (1 << 31) }
	case [2]int{formatFloat, 32}:
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case [2]int{formatFloat, 64}:
		return func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	case [2]int{formatALaw, 8}:
		return func(b []byte) float64 { return aLaw(b[0]) }
	case [2]int{formatMuLaw, 8}:
		return func(b []byte) float64 { return muLaw(b[0]) }
	}
	return nil
}

// aLaw decodes a sample of ITU-T G.711's A-law.
func aLaw(b byte) float64 {
	b ^= 0x55
	v := int(b&0xf)<<4 + 8
	if segment := b >> 4 & 7; segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if b < 0x80 {
		v = -v
	}
	return float64(v) / (1 << 15)
}

// muLaw decodes a sample of ITU-T G.711's μ-law.
func muLaw(b byte) float64 {
	b = ^b
	v := (int(b&0xf)<<3+0x84)<<(b>>4&7) - 0x84
	if b >= 0x80 {
		v = -v
	}
	return float64(v) / (1 << 15)
}
