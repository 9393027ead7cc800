package http1

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// together is the longest body that is copied and written together with its header, in bytes. The
// socket takes as much at once, so the write does not wait for the server. A longer body is written
// while the reply is read: a server may answer before it has read all.
const together = 32 << 10

// requests has buffers for requests.
var requests = sync.Pool{New: func() any { return new([]byte) }}

// write writes r, and tells trace.
func (c *Conn) write(r *http.Request, trace *httptrace.ClientTrace) error {
	buf := requests.Get().(*[]byte)
	head, err := appendHead((*buf)[:0], r)
	if err != nil {
		return err
	}
	send := func(tail []byte) (err error) {
		if _, err = c.conn.Write(head); err == nil && len(tail) > 0 {
			_, err = c.conn.Write(tail)
		}
		*buf = head
		requests.Put(buf)
		if trace != nil && trace.WroteRequest != nil {
			trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
		}
		return err
	}
	length := int(r.ContentLength)
	if length <= together {
		n := len(head)
		head = slices.Grow(head, length)[:n+length]
		if length > 0 {
			if _, err := io.ReadFull(r.Body, head[n:]); err != nil {
				return err
			}
		}
		return send(nil)
	}
	body, err := contentOf(r)
	if err != nil {
		return err
	}
	writing := make(chan error, 1)
	c.writing = writing
	go func() { writing <- send(body) }()
	return nil
}

// contentOf is the body of r. It copies nothing if the body gives its bytes at once, as the readers
// of package bytes do.
func contentOf(r *http.Request) ([]byte, error) {
	var all whole
	if _, err := io.Copy(&all, r.Body); err != nil {
		return nil, err
	}
	if int64(len(all)) != r.ContentLength {
		return nil, errors.New("the body of the request is not as long as its ContentLength")
	}
	return all, nil
}

// A whole is all that was written to it. It keeps the memory of a single Write.
type whole []byte

func (w *whole) Write(p []byte) (int, error) {
	if *w == nil {
		*w = p[:len(p):len(p)]
	} else {
		*w = append(*w, p...)
	}
	return len(p), nil
}

// own are the headers that appendHead writes by itself.
var own = []string{"Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer"}

// appendHead appends the header of r to b, in net/http's order: Host, User-Agent, Content-Length,
// and the others by name.
func appendHead(b []byte, r *http.Request) ([]byte, error) {
	host, err := hostOf(r)
	if err != nil {
		return nil, err
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	target := r.URL.RequestURI()
	if strings.ContainsFunc(target, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return nil, errors.New("the URL has a control character")
	}
	b = append(append(append(append(b, method...), ' '), target...), " HTTP/1.1\r\n"...)
	b = appendField(b, "Host", host)
	if agent := r.Header.Get("User-Agent"); agent != "" {
		b = appendField(b, "User-Agent", agent)
	}
	if r.Close {
		b = appendField(b, "Connection", "close")
	}
	if sendsLength(r, method) {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), r.ContentLength, 10), "\r\n"...)
	}
	var few [16]string
	names := few[:0]
	for name := range r.Header {
		if !slices.Contains(own, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range r.Header[name] {
			b = appendField(b, name, value)
		}
	}
	return append(b, "\r\n"...), nil
}

// sendsLength reports whether the request says how long its body is: also if it could have one.
func sendsLength(r *http.Request, method string) bool {
	return r.ContentLength > 0 || method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// appendField appends a line. A value has no line ends; see RFC 9112, section 5.
func appendField(b []byte, name, value string) []byte {
	return append(append(append(append(b, name...), ": "...), strings.TrimSpace(value)...), "\r\n"...)
}

// hostOf is the value of the Host header: in ASCII, without an address's zone; empty if it cannot
// be sent.
func hostOf(r *http.Request) (string, error) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	host, err := httpguts.PunycodeHostPort(host)
	if err != nil || !httpguts.ValidHostHeader(host) {
		return "", err
	}
	if zone := strings.IndexByte(host, '%'); zone >= 0 && host[0] == '[' {
		if end := strings.LastIndexByte(host, ']'); zone < end {
			host = host[:zone] + host[end:]
		}
	}
	return host, nil
}
