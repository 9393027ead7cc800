package sound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// A Sound is a sound in memory.
type Sound struct {
	Rate     int       // samples a second, of each channel
	Channels int       // at least 1
	Samples  []float64 // from −1 to 1, the channels in turn
}

// A form is what the first bytes of a file say about the rest.
type form struct {
	rate, channels int
	frames         int64 // samples of each channel
}

var (
	errFormat = errors.New("it is neither WAV nor FLAC: convert it, for example with ffmpeg -i FILE FILE.wav")
	errEmpty  = errors.New("it has no samples: its header gives the length 0")
	errLength = errors.New("it does not say how long it is: write it again, for example with ffmpeg -i FILE FILE.wav")
)

// Read decodes a file. It refuses a sound without samples, and a file that does not say how long it
// is. As for libsndfile, a WAV file that is cut short has the samples that are there.
func Read(file []byte) (*Sound, error) {
	if bytes.HasPrefix(file, flacMark) {
		return readFLAC(file)
	}
	w, err := parseWAV(file)
	if err != nil {
		return nil, err
	}
	return w.sound(), nil
}

// Seconds is how long the sound in a file lasts, by its header. It returns the errors of Read, except
// that it does not see damage behind the header of a FLAC file, and that it also measures MP3.
func Seconds(file []byte) (float64, error) {
	f, err := formOf(file)
	if err != nil {
		return 0, err
	}
	return float64(f.frames) / float64(f.rate), nil
}

func formOf(file []byte) (form, error) {
	switch {
	case bytes.HasPrefix(file, flacMark):
		return flacForm(file)
	case isMP3(file):
		return mp3Form(file)
	}
	w, err := parseWAV(file)
	if err != nil {
		return form{}, err
	}
	return w.form(), nil
}

// Seconds is how long s lasts.
func (s *Sound) Seconds() float64 {
	return float64(len(s.Samples)/s.Channels) / float64(s.Rate)
}

// Single rounds the samples to single precision.
func (s *Sound) Single() {
	for i, v := range s.Samples {
		s.Samples[i] = float64(float32(v))
	}
}

// headerSize is the length of the header that WAV writes.
const headerSize = 44

// WAV is s as a WAV file of 16-bit PCM. A sample is scaled to 32 bits, rounded to even and limited,
// and loses its lower 16 bits. So a file of 16-bit PCM without other chunks comes back byte for byte.
func (s *Sound) WAV() []byte {
	size := 2 * len(s.Samples)
	b := make([]byte, 0, headerSize+size)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(headerSize-8+size))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, formatPCM)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*s.Channels*s.Rate))
	b = binary.LittleEndian.AppendUint16(b, uint16(2*s.Channels))
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	for _, v := range s.Samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(pcm16(v)))
	}
	return b
}

// pcm16 is the 16-bit PCM of a sample. What is no number becomes the lowest value.
func pcm16(v float64) int16 {
	switch scaled := math.RoundToEven(v * (1 << 31)); {
	case scaled >= math.MaxInt32:
		return math.MaxInt16
	case scaled > math.MinInt32:
		return int16(int32(scaled) >> 16)
	}
	return math.MinInt16
}
