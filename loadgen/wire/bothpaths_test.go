package wire

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/record"
)

// chunked is a reply in HTTP chunks.
func chunked(chunks string) string {
	return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
}

// An oddity is a reply, and what becomes of it.
type oddity struct {
	name  string
	reply string
	end   end
	want  string
}

func (o outcome) String() string {
	var said []string
	if o.Status > 0 {
		said = append(said, fmt.Sprintf("%d %q", o.Status, record.Clip(o.Body, 40)))
	}
	if o.Class != record.OK {
		said = append(said, string(o.Class)+": "+o.Error)
	}
	if o.Again {
		said = append(said, "used again")
	}
	return strings.Join(said, ", ")
}

const plainReply = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"

var longText = strings.Repeat("a", 300<<10)

var oddities = []oddity{
	{"a reply", plainReply, stay, `200 "abc", used again`},
	{"and the server hangs up", plainReply, hangUp, `200 "abc"`},
	{"reason missing", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", stay, `200 "", used again`},
	{"reason empty", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", stay, `200 "", used again`},
	{"code of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP status code "20"`},
	{"code of four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP status code "2000"`},
	{"negative code", "HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP status code "-20"`},
	{"code 600", "HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n", stay, `600 "", used again`},
	{"code 099", "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", stay, `99 ""`},
	{"two spaces before the code", "HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n", stay, `200 "", used again`},
	{"a tab before the code", "HTTP/1.1\t200 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP status code "OK"`},
	{"lower case", "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP version "http/1.1"`},
	{"HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n", stay, `200 "", used again`},
	{"HTTP/2.0", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", stay, `200 "", used again`},
	{"HTTP/3", "HTTP/3 200 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP version "HTTP/3"`},
	{"ICY", "ICY 200 OK\r\nContent-Length: 0\r\n\r\n", stay, `malformed: malformed HTTP version "ICY"`},
	{"HTTP/2 frames", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", hangUp, "malformed: the server speaks only HTTP/2, not HTTP/1.1"},
	{"TLS alert", "\x15\x03\x01\x00\x02\x02\x46", hangUp, "malformed: the server speaks TLS: is its URL https:// instead of http://?"},
	{"garbage before the status line", "xxx\r\n" + plainReply, stay, `malformed: malformed HTTP response "xxx"`},
	{"an empty line before the status line", "\r\n" + plainReply, stay, `malformed: malformed HTTP response ""`},
	{"a greeting in another protocol", "220 mail.test at your service\r\n", stay, `malformed: malformed HTTP status code "mail.test"`},
	{"a bad line in the header, and nothing more", "HTTP/1.1 200 OK\r\n: a\r\n", stay, "timeout: not finished within 1m0s"},
	{"HTML alone", "<html>hello</html>\n", hangUp, `malformed: malformed HTTP response "<html>hello</html>"`},

	{"HTTP/1.0 until close", "HTTP/1.0 200 OK\r\n\r\nabc", hangUp, `200 "abc"`},
	{"HTTP/1.0 until close, and it stays", "HTTP/1.0 200 OK\r\n\r\nabc", stay, `200 "abc", timeout: not finished within 1m0s`},
	{"HTTP/1.0 with a length", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc"`},
	{"HTTP/1.0 kept alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"HTTP/1.0 kept alive until close", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nabc", hangUp, `200 "abc"`},
	{"HTTP/1.0 in chunks", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", hangUp, `200 "3  abc  0    "`},
	{"HTTP/1.1 until close", "HTTP/1.1 200 OK\r\n\r\nabc", hangUp, `200 "abc"`},
	{"HTTP/1.1 until close, reset", "HTTP/1.1 200 OK\r\n\r\nabc", abort, `200 "abc", reset: the connection was reset in the middle of the answer: read tcp: read: connection reset by peer`},
	{"Connection: close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc"`},
	{"Connection: Close, x", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc"`},
	{"Connection: keep-alive", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},

	{"length too long", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"length too long, reset", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", abort, `200 "abc", reset: the connection was reset in the middle of the answer: read tcp: read: connection reset by peer`},
	{"length too long, and nothing more", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", stay, `200 "abc", timeout: not finished within 1m0s`},
	{"length too short", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", stay, `200 "ab"`},
	{"length 0, with a body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nabc", stay, `200 ""`},
	{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", stay, `malformed: bad Content-Length "-1"`},
	{"length with a plus", "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc", stay, `malformed: bad Content-Length "+3"`},
	{"length in hexadecimal", "HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\nabc", stay, `malformed: bad Content-Length "0x3"`},
	{"length empty", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nabc", hangUp, `malformed: invalid empty Content-Length ""`},
	{"length beyond reason", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", stay, `malformed: bad Content-Length "99999999999999999999"`},
	{"two equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", stay, `malformed: http: message cannot contain multiple Content-Length headers; got ["3" "4"]`},
	{"two lengths in a line", "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc", stay, `malformed: bad Content-Length "3, 3"`},
	{"length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", stay, `200 "abc", used again`},

	{"chunks", chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), stay, `200 "abcde", used again`},
	{"Transfer-Encoding: Chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", stay, `200 "abc", used again`},
	{"Transfer-Encoding: identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nabc", hangUp, `malformed: unsupported transfer encoding: "identity"`},
	{"Transfer-Encoding: gzip, chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", hangUp, `malformed: unsupported transfer encoding: "gzip, chunked"`},
	{"two transfer encodings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", hangUp, `malformed: too many transfer encodings: ["chunked" "chunked"]`},
	{"chunk extensions", chunked("3;a=b\r\nabc\r\n0;c\r\n\r\n"), stay, `200 "abc", used again`},
	{"spaces after the size", chunked("3  \r\nabc\r\n0\r\n\r\n"), stay, `200 "abc", used again`},
	{"spaces before the extension", chunked("3 ;a\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: invalid byte in chunk length`},
	{"a space before the size", chunked(" 3\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: invalid byte in chunk length`},
	{"size in capitals, with zeros", chunked("000A\r\nabcdefghij\r\n0\r\n\r\n"), stay, `200 "abcdefghij", used again`},
	{"size of 16 digits", chunked("0000000000000003\r\nabc\r\n0\r\n\r\n"), stay, `200 "abc", used again`},
	{"size of 17 digits", chunked("00000000000000003\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: http chunk length too large`},
	{"size beyond reason", chunked("ffffffffffffffff\r\nabc"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"no size", chunked("\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: empty hex number for chunk length`},
	{"an extension without a size", chunked(";a\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: empty hex number for chunk length`},
	{"size not in hexadecimal", chunked("3x\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: invalid byte in chunk length`},
	{"negative size", chunked("-3\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: invalid byte in chunk length`},
	{"LF after the size", chunked("3\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: chunked line ends with bare LF`},
	{"CR in the size line", chunked("3\r;\r\nabc\r\n0\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: invalid CR in chunked line`},
	{"LF after a chunk", chunked("3\r\nabc\n0\r\n\r\n"), stay, `200 "abc", malformed: the answer breaks the protocol: malformed chunked encoding`},
	{"nothing after a chunk", chunked("3\r\nabc0\r\n\r\n"), stay, `200 "abc", malformed: the answer breaks the protocol: malformed chunked encoding`},
	{"a chunk too long", chunked("3\r\nabcd\r\n0\r\n\r\n"), stay, `200 "abc", malformed: the answer breaks the protocol: malformed chunked encoding`},
	{"LF after the last chunk", chunked("3\r\nabc\r\n0\r\n\n"), stay, `200 "abc", timeout: not finished within 1m0s`},
	{"only LF at the end", chunked("3\r\nabc\r\n0\n\n"), stay, `200 "abc", malformed: the answer breaks the protocol: chunked line ends with bare LF`},
	{"trailers", chunked("3\r\nabc\r\n0\r\nX: 1\r\nY: 2\r\n\r\n"), stay, `200 "abc", used again`},
	{"a trailer in LF", chunked("3\r\nabc\r\n0\r\nX: 1\n\r\n"), stay, `200 "abc", timeout: not finished within 1m0s`},
	{"a trailer without a colon", chunked("3\r\nabc\r\n0\r\nX\r\n\r\n"), stay, `200 "abc", malformed: the answer breaks the protocol: malformed MIME header: missing colon: "X"`},
	{"trailers without an end", chunked("3\r\nabc\r\n0\r\nX: 1\r\n"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"long trailers", chunked("0\r\nX: " + longText + "\r\n\r\n"), stay, `200 "", malformed: the answer breaks the protocol: http: suspiciously long trailer after chunked body`},
	{"long extension", chunked("1;" + longText), stay, `200 "", malformed: the answer breaks the protocol: header line too long`},
	{"extensions without end", chunked(strings.Repeat("1;"+longText[:4000]+"\r\na\r\n", 20)), stay, `200 "aaaa", malformed: the answer breaks the protocol: chunked encoding contains too much non-data`},
	{"chunks without an end", chunked("3\r\nabc\r\n"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"cut in the end", chunked("3\r\nabc\r\n0\r\n"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"cut in the CR of the end", chunked("3\r\nabc\r\n0\r\n\r"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"cut in a size", chunked("3\r\nabc\r\n1"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"cut in a chunk", chunked("3\r\nab"), hangUp, `200 "ab", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"cut after a chunk", chunked("3\r\nabc"), hangUp, `200 "abc", truncated: the connection was cut in the middle of the answer: unexpected EOF`},
	{"reset in a chunk", chunked("3\r\nab"), abort, `200 "ab", reset: the connection was reset in the middle of the answer: read tcp: read: connection reset by peer`},
	{"reset after a chunk", chunked("3\r\nabc\r\n"), abort, `200 "abc", reset: the connection was reset in the middle of the answer: read tcp: read: connection reset by peer`},
	{"silent in a chunk", chunked("3\r\nab"), stay, `200 "ab", timeout: not finished within 1m0s`},
	{"bytes after the last chunk", chunked("3\r\nabc\r\n0\r\n\r\nxyz"), stay, `200 "abc"`},
	{"another reply after the last chunk", chunked("3\r\nabc\r\n0\r\n\r\n") + plainReply, stay, `200 "abc"`},
	{"an empty line after the last chunk", chunked("3\r\nabc\r\n0\r\n\r\n\r\n"), stay, `200 "abc"`},

	{"lines end in LF", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", stay, `200 "abc", used again`},
	{"CR CR LF", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\r\n\r\nabc", hangUp, `malformed: malformed MIME header line: "Content-Length: 3\r"`},
	{"a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"a first line that is folded", "HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 3\r\n\r\nabc", stay, `malformed: malformed MIME header initial line: " X: a"`},
	{"a header without a colon", "HTTP/1.1 200 OK\r\nX\r\nContent-Length: 3\r\n\r\nabc", stay, `malformed: malformed MIME header: missing colon: "X"`},
	{"a header without a name", "HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 3\r\n\r\nabc", stay, `malformed: malformed MIME header line: ": a"`},
	{"a space before the colon", "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"NUL in a header", "HTTP/1.1 200 OK\r\nX: a\x00\r\nContent-Length: 3\r\n\r\nabc", stay, `malformed: malformed MIME header line: "X: a\x00"`},
	{"NUL in a name", "HTTP/1.1 200 OK\r\nX\x00: a\r\nContent-Length: 3\r\n\r\nabc", stay, `malformed: malformed MIME header line: "X\x00: a"`},
	{"NUL in the status line", "HTTP/1.1 200 O\x00K\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"a header of several values", "HTTP/1.1 200 OK\r\nx-a: 1\r\nX-A: 2\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"a long header", "HTTP/1.1 200 OK\r\nX: " + longText[:200<<10] + "\r\nContent-Length: 3\r\n\r\nabc", stay, `200 "abc", used again`},
	{"a header too long", "HTTP/1.1 200 OK\r\nX: " + longText + "\r\nContent-Length: 3\r\n\r\nabc", stay, "malformed: server response headers exceeded 262144 bytes; aborted"},
	{"too many headers", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: a\r\n", 40<<10) + "\r\n", stay, "malformed: server response headers exceeded 262144 bytes; aborted"},
	{"a status line too long", "HTTP/1.1 200 " + longText + "\r\nContent-Length: 3\r\n\r\nabc", stay, "malformed: server response headers exceeded 262144 bytes; aborted"},

	{"early hints", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + plainReply, stay, `200 "abc", used again`},
	{"100 Continue", "HTTP/1.1 100 Continue\r\n\r\n" + plainReply, stay, `200 "abc", used again`},
	{"many interim replies", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 100) + plainReply, stay, `200 "abc", used again`},
	{"interim replies without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 9000) + plainReply, stay, "malformed: server response headers exceeded 262144 bytes; aborted"},
	{"only an interim reply", "HTTP/1.1 100 Continue\r\n\r\n", hangUp, "truncated: the connection was cut before the reply: unexpected EOF"},
	{"an interim reply with a length", "HTTP/1.1 102 Processing\r\nContent-Length: 3\r\n\r\n" + plainReply, stay, `200 "abc", used again`},
	{"101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nabc", hangUp, `101 "abc"`},
	{"204", "HTTP/1.1 204 No Content\r\n\r\n", stay, `204 "", used again`},
	{"204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", stay, `204 ""`},
	{"204 in chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", stay, `204 ""`},
	{"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", stay, `304 "", used again`},
	{"205", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", stay, `205 "", used again`},

	{"nothing", "", hangUp, "truncated: the connection was cut before the reply: EOF"},
	{"reset at once", "", abort, "reset: the connection was reset before the reply: read tcp: read: connection reset by peer"},
	{"silence", "", stay, "timeout: not finished within 1m0s"},
	{"a byte", "H", hangUp, `malformed: malformed HTTP response "H"`},
	{"a byte, reset", "H", abort, `malformed: malformed HTTP response "H"`},
	{"half a status line", "HTTP/1.1 20", hangUp, `malformed: malformed HTTP status code "20"`},
	{"half a status line, reset", "HTTP/1.1 20", abort, `malformed: malformed HTTP status code "20"`},
	{"half a status line, silence", "HTTP/1.1 20", stay, "timeout: not finished within 1m0s"},
	{"half a header", "HTTP/1.1 200 OK\r\nContent-Le", hangUp, `malformed: malformed MIME header: missing colon: "Content-Le"`},
	{"half a header, reset", "HTTP/1.1 200 OK\r\nContent-Le", abort, `malformed: malformed MIME header: missing colon: "Content-Le"`},
	{"no end of the header", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n", hangUp, "truncated: the connection was cut before the reply: unexpected EOF"},
}

// TestBothPathsReadTheSame compares our own HTTP/1.1 with net/http.
func TestBothPathsReadTheSame(t *testing.T) {
	quiet(t)
	for _, test := range oddities {
		t.Run(test.name, func(t *testing.T) {
			s, c := script{parts: []string{test.reply}, end: test.end}, call{method: http.MethodPost, body: 2, read: 1000}
			theirs, ours := tryReply(t, true, s, c), tryReply(t, false, s, c)
			if diff := cmp.Diff(theirs.but(ours), ours); diff != "" {
				t.Errorf("(-net/http +ours):\n%s", diff)
			}
			if got := ours.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestRepliesDoNotDependOnReads splits each reply in two, at every byte, and into single bytes.
func TestRepliesDoNotDependOnReads(t *testing.T) {
	quiet(t)
	c := call{method: http.MethodPost, body: 2, read: 1000}
	for _, test := range oddities {
		if len(test.reply) > 200 {
			continue
		}
		want := tryReply(t, false, script{parts: []string{test.reply}, end: test.end}, c)
		for at := 1; at <= len(test.reply); at++ {
			parts := []string{test.reply[:at], test.reply[at:]}
			if at == len(test.reply) {
				parts = strings.Split(test.reply, "")
			}
			got := tryReply(t, false, script{parts: parts, end: test.end}, c)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, split at %d (-whole +split):\n%s", test.name, at, diff)
			}
		}
	}
}

// TestBothPathsAnswerCallsTheSame varies the call, and when the reply comes.
func TestBothPathsAnswerCallsTheSame(t *testing.T) {
	quiet(t)
	const refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nabc"
	three := chunked("3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n")
	post := func(body int) call { return call{method: http.MethodPost, body: body, read: 1000} }
	for _, test := range []struct {
		name   string
		call   call
		script script
		want   string
		theirs string // what net/http makes of it, if not the same
	}{
		{"a byte a read", call{method: http.MethodPost, body: 2, read: 1}, script{parts: []string{three}, end: stay}, `200 "abcdef", used again`, ""},
		{"GET", call{method: http.MethodGet, read: 1000}, script{parts: []string{three}, end: stay}, `200 "abcdef", used again`, ""},
		{"HEAD", call{method: http.MethodHead, read: 1000}, script{parts: []string{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"}, end: stay}, `200 "", used again`, ""},
		{"HEAD in chunks", call{method: http.MethodHead, read: 1000}, script{parts: []string{chunked("")}, end: stay}, `200 "", used again`, ""},
		{"HEAD with a body", call{method: http.MethodHead, read: 1000}, script{parts: []string{plainReply}, end: stay}, `200 ""`, ""},
		{"closed in the middle", call{method: http.MethodPost, body: 2, read: 3, enough: 3}, script{parts: []string{three}, end: stay}, `200 "abc"`, ""},
		{"closed at its length", call{method: http.MethodPost, body: 2, read: 3, enough: 3}, script{parts: []string{plainReply}, end: stay}, `200 "abc", used again`, ""},
		{"closed before its length", call{method: http.MethodPost, body: 2, read: 2, enough: 2}, script{parts: []string{plainReply}, end: stay}, `200 "ab"`, ""},
		{"a long request", post(300 << 10), script{parts: []string{plainReply}, end: stay}, `200 "abc", used again`, ""},
		{"a long request, cut", post(300 << 10), script{end: hangUp}, "truncated: the connection was cut before the reply: EOF", ""},
		{"answered while it is written", post(300 << 10), script{parts: []string{refusal}, end: stay, eager: true}, `413 "abc"`, ""},
		{"answered while it is written, and cut", post(300 << 10), script{parts: []string{refusal}, end: hangUp, eager: true}, `413 "abc"`, ""},
		{"answered while it is written, and reset", post(300 << 10), script{parts: []string{refusal}, end: abort, eager: true}, `413 "abc"`, ""},
		{"cut while it is written", post(300 << 10), script{end: hangUp, eager: true}, "truncated: the connection was cut before the reply: EOF",
			"truncated: the connection was cut before the reply: write tcp: use of closed network connection"},
		{"reset while it is written", post(300 << 10), script{end: abort, eager: true}, "reset: the connection was reset before the reply: read tcp: read: connection reset by peer",
			"truncated: the connection was cut before the reply: write tcp: use of closed network connection"},
		{"silent while it is written", post(300 << 10), script{end: stay, eager: true}, "timeout: not finished within 1m0s", ""},
		{"a stream while it is written", post(300 << 10), script{parts: []string{chunked("3\r\nabc\r\n"), "3\r\ndef\r\n", "0\r\n\r\n"}, end: stay, eager: true}, `200 "abcdef"`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			theirs, ours := tryReply(t, true, test.script, test.call), tryReply(t, false, test.script, test.call)
			if diff := cmp.Diff(theirs, ours); diff != "" && test.theirs == "" {
				t.Errorf("(-net/http +ours):\n%s", diff)
			}
			if got := ours.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if got := theirs.String(); test.theirs != "" && got != test.theirs {
				t.Errorf("net/http: %s, want %s", got, test.theirs)
			}
		})
	}
}
