package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Nobody sees what else is in the bytes that were decompressed: an event's stamp may be
// that of another, which its doubt admits.
func TestAnUnpackedEventIsInDoubt(t *testing.T) {
	for encoding, mixed := range map[string]bool{"": false, "identity": false, "gzip": true, "deflate": true} {
		reply := &http.Response{Header: http.Header{"Content-Encoding": {encoding}}, Body: io.NopCloser(strings.NewReader("ab"))}
		body := BodyOf(reply, nil, unlimited(t))
		if _, err := body.Read(make([]byte, 1)); err != nil || body.Arrival().Mixed != mixed {
			t.Errorf("%q: mixed %t, %v", encoding, body.Arrival().Mixed, err)
		}
	}
}

func TestWhatIsUnpackedIsBounded(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 1000))
	w.Close()
	body := &unpackedBody{src: bufio.NewReader(&packed), open: unpackers["gzip"], left: 999}
	if text, err := io.ReadAll(body); len(text) != 999 || err != errUnpackedTooLong {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// unlimited is the watch of a request without limits.
func unlimited(t *testing.T) *Watch {
	_, w := Timeouts{}.Watch(t.Context())
	t.Cleanup(w.Stop)
	return w
}
