package spool

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// frameBytes is how much text one frame of zstd has. A reader finds the next frame after one
	// that is damaged.
	frameBytes = 4 << 20

	// windowBytes is how far back a text is compared with earlier ones. For lines of requests, more
	// makes the stream larger: nearer matches take fewer bits.
	windowBytes = 64 << 10
)

// A packer compresses what it writes, as frames of zstd. Each call of Write ends a block, so its text
// can be read once it is written. After the last, end completes the frame.
type packer struct {
	to      io.Writer
	encoder *zstd.Encoder
	packed  bytes.Buffer // takes what the encoder writes, for one call of Write
	size    int          // of the text in the frame so far
}

func newPacker(to io.Writer) *packer {
	p := &packer{to: to}
	p.encoder, _ = zstd.NewWriter(&p.packed, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(windowBytes), zstd.WithLowerEncoderMem(true)) // these options are allowed
	return p
}

// Write writes whole lines.
func (p *packer) Write(text []byte) (int, error) {
	p.size += len(text)
	if _, err := p.encoder.Write(text); err != nil {
		return 0, err
	}
	if p.size >= frameBytes {
		return len(text), p.end()
	}
	if err := p.encoder.Flush(); err != nil {
		return 0, err
	}
	return len(text), p.flush()
}

// end completes the frame, if there is one.
func (p *packer) end() error {
	if p.size == 0 {
		return nil
	}
	if err := p.encoder.Close(); err != nil {
		return err
	}
	p.encoder.Reset(&p.packed)
	p.size = 0
	return p.flush()
}

// flush writes what the encoder has written.
func (p *packer) flush() error {
	_, err := p.to.Write(p.packed.Bytes())
	p.packed.Reset()
	return err
}
