package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// frameMark opens a frame of zstd. No text in UTF-8 holds it.
var frameMark = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxWindow bounds the memory that a frame can ask for; zstd --long needs as much.
const maxWindow = 128 << 20

// A plainReader reads a text of which any parts may be frames of zstd. What a cut frame still has is
// read, and a new line begins after it. What follows damage is dropped up to the next frame.
type plainReader struct {
	in      *bufio.Reader
	decoder *zstd.Decoder // nil before the first frame
	frame   *frame        // being read; nil outside of frames
	last    byte          // that was read
	packed  bool          // a frame began
	damaged bool          // a frame was no frame of zstd, and not only cut
	astray  bool          // what follows is of a damaged frame, up to the next one
}

// plain returns the text in r.
func plain(r io.Reader) *plainReader {
	return &plainReader{in: bufio.NewReaderSize(r, 64<<10), last: '\n'}
}

// Read reads the text.
func (pr *plainReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		if pr.frame != nil {
			n, err = pr.unpack(p)
		} else if n, err = pr.text(p); n == 0 && err == nil {
			err = pr.begin()
		}
	}
	if n > 0 {
		pr.last = p[n-1]
	}
	return n, err
}

// text reads what is outside of frames. It reads nothing where a frame begins.
func (pr *plainReader) text(p []byte) (int, error) {
	_, err := pr.in.Peek(len(frameMark))
	ready, _ := pr.in.Peek(pr.in.Buffered()) // they are there
	if len(ready) == 0 {
		return 0, err
	}
	end := bytes.Index(ready, frameMark)
	switch {
	case end < 0 && err != nil:
		end = len(ready) // of the input
	case end < 0:
		end = len(ready) - len(frameMark) + 1 // a mark may begin there
	}
	if pr.astray && end > 0 {
		_, err = pr.in.Discard(end)
		return 0, err
	}
	return pr.in.Read(p[:min(len(p), end)])
}

// begin begins a frame.
func (pr *plainReader) begin() error {
	var h zstd.Header
	head, _ := pr.in.Peek(zstd.HeaderMaxSize) // a frame may be shorter
	pr.packed, pr.astray = true, false
	if err := h.Decode(head); err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			pr.damaged, pr.astray = true, true
		}
		_, err = pr.in.Discard(len(frameMark))
		return err
	}
	if pr.decoder == nil {
		// One goroutine, the caller's: a Reader has nothing to close.
		// these options are allowed
		pr.decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}
	pr.frame = &frame{in: pr.in, left: h.HeaderSize, checked: h.HasCheckSum}
	return pr.decoder.Reset(pr.frame)
}

// unpack reads what is in a frame.
func (pr *plainReader) unpack(p []byte) (int, error) {
	n, err := pr.decoder.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		pr.recover()
	}
	failed := pr.frame.err
	pr.frame = nil
	if failed == nil && !errors.Is(err, io.EOF) && pr.last != '\n' {
		p[0] = '\n'
		return 1, nil
	}
	return 0, failed
}

// recover goes on to what follows a frame that was cut or damaged.
func (pr *plainReader) recover() {
	cut := pr.frame.cut
	_, _ = io.Copy(io.Discard, pr.frame) // the frame keeps its error
	pr.astray = pr.frame.err == nil && pr.amongBinary()
	pr.damaged = pr.damaged || pr.frame.err == nil && !cut || pr.astray
}

// amongBinary reports whether neither text, nor a frame, nor the end follows.
func (pr *plainReader) amongBinary() bool {
	const enough = 64 // bytes to hold a control character, if they are not text
	next, _ := pr.in.Peek(enough)
	if len(next) < blockHeader {
		return false // a torn header
	}
	return !bytes.HasPrefix(next, frameMark) && bytes.ContainsFunc(next, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\b\t\n\r\x1b", r)
	})
}

// A frame reads one frame of zstd, or what there is of one that was cut: another begins where its
// next block should. See RFC 8878, section 3.1.1.
type frame struct {
	in      *bufio.Reader
	left    int  // of its header, of a block with its header, or of the checksum
	last    bool // that block is the last
	checked bool // a checksum follows
	cut     bool // it ended too early
	err     error
}

// Read reads the frame as it is.
func (f *frame) Read(p []byte) (int, error) {
	if f.left == 0 && !f.next() {
		f.cut = !f.last
		return 0, io.EOF
	}
	n, err := f.in.Read(p[:min(len(p), f.left)])
	f.left -= n
	if f.cut = errors.Is(err, io.EOF); err != nil && !f.cut {
		f.err = err
	}
	return n, err
}

const (
	blockHeader = 3
	maxBlock    = 128 << 10
)

// next goes on to the next block or the checksum. It reports false at the end.
func (f *frame) next() bool {
	if f.last {
		if f.checked {
			f.checked, f.left = false, 4
		}
		return f.left > 0
	}
	head, err := f.in.Peek(blockHeader)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			f.err = err
		}
		return false
	}
	header := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	size, kind := header>>3, header>>1&3
	if kind == 1 {
		size = 1 // one byte, repeated
	} else if size > maxBlock {
		return false // the mark of another frame reads so
	}
	f.last, f.left = header&1 == 1, blockHeader+size
	return true
}
