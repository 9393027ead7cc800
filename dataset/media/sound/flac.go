package sound

import (
	"bytes"
	"fmt"
	"io"

	"github.com/mewkiz/flac"
)

// flacMark begins every FLAC file.
var flacMark = []byte("fLaC")

// flacForm reads the header of a FLAC file.
func flacForm(file []byte) (f form, err error) {
	defer recovered(&err)
	stream, err := flac.New(bytes.NewReader(file))
	if err != nil {
		return form{}, fmt.Errorf("reading FLAC: %w", err)
	}
	return formOfStream(stream)
}

func formOfStream(stream *flac.Stream) (form, error) {
	info := stream.Info
	f := form{rate: int(info.SampleRate), channels: int(info.NChannels), frames: int64(info.NSamples)}
	switch {
	case f.frames == 0:
		return f, errLength
	case f.rate == 0:
		return f, fmt.Errorf("a FLAC file with %d samples a second", f.rate)
	case info.BitsPerSample < 4 || info.BitsPerSample > 32:
		return f, fmt.Errorf("a FLAC file with %d bits a sample", info.BitsPerSample)
	}
	return f, nil
}

// readFLAC decodes a FLAC file.
func readFLAC(file []byte) (s *Sound, err error) {
	defer recovered(&err)
	stream, err := flac.New(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("reading FLAC: %w", err)
	}
	f, err := formOfStream(stream)
	if err != nil {
		return nil, err
	}
	s = &Sound{Rate: f.rate, Channels: f.channels}
	full := float64(int64(1) << (stream.Info.BitsPerSample - 1))
	want := f.frames * int64(f.channels)
	for int64(len(s.Samples)) < want {
		block, err := stream.ParseNext()
		if err == io.EOF {
			return nil, fmt.Errorf("a FLAC file that ends after %d of %d samples", len(s.Samples)/f.channels, f.frames)
		}
		if err != nil {
			return nil, fmt.Errorf("reading FLAC: %w", err)
		}
		if len(block.Subframes) != f.channels {
			return nil, fmt.Errorf("a FLAC file with a block of %d channels among blocks of %d", len(block.Subframes),
				f.channels)
		}
		for i := range block.Subframes[0].Samples {
			for _, channel := range block.Subframes {
				s.Samples = append(s.Samples, float64(channel.Samples[i])/full)
			}
		}
	}
	s.Samples = s.Samples[:want]
	return s, nil
}

// recovered turns a panic of the decoder, which does not check everything in a damaged file, into an
// error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("reading FLAC: it is damaged: %v", p)
	}
}
