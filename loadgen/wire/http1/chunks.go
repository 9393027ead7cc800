package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/textproto"
)

const (
	maxLine    = 4 << 10  // of a chunk's first line, and of all trailers, in bytes
	maxFraming = 16 << 10 // see chunks.surplus
)

// A chunkPart says what comes next in a chunked body.
type chunkPart int

const (
	sizeLine chunkPart = iota
	data
	dataEnd // the CRLF after data
	trailers
)

// chunks take the framing out of a body in chunks (RFC 9112, section 7.1). It is as strict as
// net/http, and fails in the same words. The zero value is before the first chunk.
type chunks struct {
	next    chunkPart
	left    uint64 // bytes of data that are still to come
	line    []byte // the start of a line, or of the trailers, from earlier bytes
	surplus int64  // bytes of framing beyond what is usual: see RFC 9112, section 7.1.1
	ahead   bool   // see Body.Ahead
}

// take moves the payload among p to the start of p. used is how many bytes of p belong to the body.
// The error is io.EOF at the end of the body.
func (c *chunks) take(p []byte) (payload, used int, err error) {
	end := 0 // of the payload in p, before it was moved
	defer func() { c.ahead = payload > 0 && used > end+len("\r\n") }()
	for used < len(p) && err == nil {
		switch rest := p[used:]; c.next {
		case data:
			n := int(min(uint64(len(rest)), c.left))
			payload += copy(p[payload:], rest[:n])
			used += n
			end = used
			if c.left -= uint64(n); c.left == 0 {
				c.next = dataEnd
			}
		case dataEnd:
			used++
			if c.line = append(c.line, rest[0]); len(c.line) < 2 {
				continue
			}
			if string(c.line) != "\r\n" {
				err = errors.New("malformed chunked encoding")
			}
			c.line, c.next = c.line[:0], sizeLine
		case sizeLine:
			line, n := c.lineOf(rest)
			if used += n; line != nil {
				err = c.begin(line)
				c.line = c.line[:0]
			} else if len(c.line) >= maxLine {
				err = errLongLine
			}
		case trailers:
			var n int
			n, err = c.trail(rest)
			used += n
		}
	}
	return payload, used, err
}

// lineOf returns the line at the start of p with its LF, once all of it is there, and how many bytes
// of p belong to it. It keeps the start of a line for the next call.
func (c *chunks) lineOf(p []byte) (line []byte, used int) {
	lf := bytes.IndexByte(p, '\n')
	switch {
	case lf < 0:
		c.line = append(c.line, p...)
		return nil, len(p)
	case len(c.line) == 0:
		return p[:lf+1], lf + 1
	}
	c.line = append(c.line, p[:lf+1]...)
	return c.line, lf + 1
}

var errLongLine = errors.New("header line too long")

// begin reads the first line of a chunk: its size in hexadecimal digits, and extensions, which it
// ignores.
func (c *chunks) begin(line []byte) error {
	switch cr := bytes.IndexByte(line, '\r'); {
	case len(line) > maxLine:
		return errLongLine
	case cr < 0:
		return errors.New("chunked line ends with bare LF")
	case cr != len(line)-2:
		return errors.New("invalid CR in chunked line")
	}
	c.surplus += int64(len(line))
	digits, _, _ := bytes.Cut(bytes.TrimRight(line[:len(line)-2], " \t"), []byte(";"))
	size, err := hexadecimal(digits)
	if err != nil {
		return err
	}
	// Each chunk may have 16 bytes of framing, and twice its data. More would let a server send
	// framing without end.
	if c.surplus = max(0, c.surplus-16-2*int64(size)); c.surplus > maxFraming {
		return errors.New("chunked encoding contains too much non-data")
	}
	c.left, c.next = size, data
	if size == 0 {
		c.next = trailers
	}
	return nil
}

func hexadecimal(digits []byte) (n uint64, err error) {
	if len(digits) == 0 {
		return 0, errors.New("empty hex number for chunk length")
	}
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, errors.New("invalid byte in chunk length")
		}
		if i == 16 {
			return 0, errors.New("http chunk length too large")
		}
		n = n<<4 | uint64(c)
	}
	return n, nil
}

// trail reads what follows the last chunk: trailers, if any, and an empty line. It checks their
// form and drops them. used is how many bytes of p belong to them.
func (c *chunks) trail(p []byte) (used int, err error) {
	if len(c.line) == 0 && bytes.HasPrefix(p, []byte("\r\n")) {
		return len("\r\n"), io.EOF
	}
	before := len(c.line)
	c.line = append(c.line, p...)
	end := 0
	if bytes.HasPrefix(c.line, []byte("\r\n")) {
		end = 2
	} else if i := bytes.Index(c.line, []byte("\r\n\r\n")); i >= 0 {
		end = i + 4
	}
	switch {
	case end == 0 && len(c.line) > maxLine:
		return len(p), errors.New("http: suspiciously long trailer after chunked body")
	case end == 0:
		return len(p), nil
	}
	if _, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(c.line[:end]))).ReadMIMEHeader(); err != nil {
		return end - before, err
	}
	return end - before, io.EOF
}
