package wire

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/servebench/servebench/metrics/record"
)

// maxUnpacked bounds the decompressed size of one reply, in bytes: a short reply may hold
// gigabytes. An answer of a million tokens, each in its own event, has about this size.
const maxUnpacked = 256 << 20

var errUnpackedTooLong = errors.New("the decompressed answer exceeds 256 MiB")

// packed is the compression of a reply's body; "" for no compression.
func packed(reply *http.Response) string {
	encoding := strings.ToLower(strings.TrimSpace(reply.Header.Get("Content-Encoding")))
	switch encoding {
	case "identity":
		return ""
	case "x-gzip":
		return "gzip"
	}
	return encoding
}

// unpackers are how bodies are decompressed.
var unpackers = map[string]func(*bufio.Reader) (io.Reader, error){
	"gzip":    func(src *bufio.Reader) (io.Reader, error) { return gzip.NewReader(src) },
	"deflate": inflate,
}

// Unpack makes a reply's body decompress as it is read: some servers and proxies compress although
// nobody asked them to. It drops a body with a compression other than gzip or deflate; see
// Unreadable.
func Unpack(reply *http.Response) {
	encoding := packed(reply)
	if encoding == "" {
		return
	}
	if open := unpackers[encoding]; open != nil {
		reply.Body = &unpackedBody{Closer: reply.Body, src: bufio.NewReader(reply.Body), open: open, left: maxUnpacked}
		return
	}
	reply.Body = struct {
		io.Reader
		io.Closer
	}{strings.NewReader(""), reply.Body}
}

// Unreadable returns a failure for an answer with a compression that Unpack does not know, else
// nil.
func Unreadable(reply *http.Response) error {
	encoding := packed(reply)
	if encoding == "" || unpackers[encoding] != nil {
		return nil
	}
	return record.Failf(record.Malformed, "the answer is compressed (%s), although nobody asked for it, and "+
		"servebench reads only gzip and deflate: "+
		"switch compression off at the server, or at the proxy before it", record.Shorten(encoding))
}

// inflate reads what HTTP calls deflate: the format of zlib, or, from some servers, the bare data
// within. RFC 1950 describes the check of zlib's header.
func inflate(src *bufio.Reader) (io.Reader, error) {
	head, err := src.Peek(2)
	switch {
	case len(head) == 0:
		return nil, err
	case len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
		return zlib.NewReader(src)
	}
	return flate.NewReader(src), nil
}

// An unpackedBody decompresses a body. It reads no more from the network than it needs for the
// bytes that it returns.
type unpackedBody struct {
	io.Closer
	src  *bufio.Reader
	open func(*bufio.Reader) (io.Reader, error)
	body io.Reader // nil until the first Read
	left int       // bytes that may still be decompressed
}

func (u *unpackedBody) Read(p []byte) (n int, err error) {
	if u.body == nil {
		if u.body, err = u.open(u.src); err != nil {
			return 0, err
		}
	}
	if u.left == 0 {
		return 0, errUnpackedTooLong
	}
	n, err = u.body.Read(p[:min(len(p), u.left)])
	u.left -= n
	if err == io.EOF {
		// The connection can carry another request once the end was seen.
		if _, end := u.src.Peek(1); end != nil {
			err = end
		}
	}
	return n, err
}
