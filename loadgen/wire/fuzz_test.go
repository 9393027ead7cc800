package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/record"
)

// cut cuts a reply into parts of these lengths, again and again.
func cut(reply string, lengths []byte) (parts []string) {
	for i := 0; len(reply) > 0; i++ {
		n := len(reply)
		if len(lengths) > 0 {
			n = min(n, 1+int(lengths[i%len(lengths)]))
		}
		parts, reply = append(parts, reply[:n]), reply[n:]
	}
	return parts
}

// FuzzReply reads any reply in any parts with our own HTTP/1.1 and with net/http. They must see the
// same, fail for the same cause, and use the connection again in the same cases.
func FuzzReply(f *testing.F) {
	for _, test := range oddities {
		if len(test.reply) <= 1000 {
			f.Add([]byte(test.reply), []byte{}, byte(test.end), byte(0), uint16(1000))
			f.Add([]byte(test.reply), []byte{0, 3}, byte(test.end), byte(0), uint16(2))
		}
	}
	methods := []string{http.MethodPost, http.MethodGet, http.MethodHead}
	quiet(f)
	f.Fuzz(func(t *testing.T, reply, lengths []byte, how, method byte, read uint16) {
		if len(reply) > 4<<10 {
			return
		}
		c := call{method: methods[int(method)%len(methods)], read: 1 + int(read)%5000}
		if c.method == http.MethodPost {
			c.body = 2
		}
		s := script{parts: cut(string(reply), lengths), end: end(how) % numEnds}
		if s.end == stay && strings.Contains(strings.ToLower(string(reply)), "upgrade") {
			return // net/http leaves such a connection to its caller: no time limit closes it
		}
		theirs, ours := tryReply(t, true, s, c), tryReply(t, false, s, c)
		if diff := cmp.Diff(theirs.but(ours), ours); diff != "" {
			t.Errorf("%s in %q, %d (-net/http +ours):\n%s", c.method, s.parts, s.end, diff)
		}
	})
}

// but is theirs with our cause, if the connection ended amid trailers: net/http then says that there
// was no end, or that the trailers are too long.
func (theirs outcome) but(ours outcome) outcome {
	forgotten := strings.HasSuffix(theirs.Error, "reading trailer") || strings.HasSuffix(theirs.Error, "suspiciously long trailer after chunked body")
	if forgotten && (ours.Class == record.Truncated || ours.Class == record.Reset || ours.Class == record.Timeout) {
		theirs.Class, theirs.Error = ours.Class, ours.Error
	}
	return theirs
}
