package exchange_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/openai"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// A packer compresses, and Flush gives out a block.
type packer interface {
	io.WriteCloser
	Flush() error
}

// packers are the compressions of HTTP that are read, deflate in both its meanings.
var packers = map[string]func(io.Writer) packer{
	"gzip":    func(w io.Writer) packer { return gzip.NewWriter(w) },
	"x-gzip":  func(w io.Writer) packer { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) packer { return zlib.NewWriter(w) },
	"Deflate": func(w io.Writer) packer {
		bare, err := flate.NewWriter(w, flate.BestSpeed)
		if err != nil {
			panic(err)
		}
		return bare
	},
}

const packedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: %s\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestACompressedStreamIsReadAsItComes writes each event a second after the one before,
// but the second, which the compressor keeps until the third.
func TestACompressedStreamIsReadAsItComes(t *testing.T) {
	for encoding, pack := range packers {
		t.Run(encoding, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tally := new(wire.Tally)
				transport := wire.Connections{NetHTTP: netHTTP, Tally: tally, Dial: wiretest.DialScript(func(c net.Conn) bool {
					fmt.Fprintf(c, packedHead, encoding)
					var out bytes.Buffer
					w := pack(&out)
					for i, event := range []string{aChunk, aChunk, aChunk, lastChunk + usageChunk + doneEvent} {
						time.Sleep(time.Second)
						_, _ = io.WriteString(w, event)
						if i == 1 {
							continue
						}
						if i == 3 {
							w.Close()
						} else {
							w.Flush()
						}
						_, _ = io.WriteString(c, wiretest.Framed(out.String()))
						out.Reset()
					}
					_, _ = io.WriteString(c, streamEnd)
					return false
				})}.Transport()
				defer transport.CloseIdleConnections()
				o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Tally: tally}
				for reused := range 2 {
					epoch := time.Now()
					rec := new(record.Record)
					var at []time.Duration
					for chunk, err := range o.Send(t.Context(), epoch, &engine.Request{Body: []byte("{}"), KeepText: true}, rec) {
						if err != nil {
							t.Fatal(err)
						}
						at = append(at, chunk.At.Sub(epoch))
					}
					want := []time.Duration{time.Second, 3 * time.Second, 3 * time.Second, 4 * time.Second}
					if diff := cmp.Diff(want, at); diff != "" || rec.Answer.Text != "aaa" || rec.Tokens.Out != 2 || rec.Answer.SharedReads != 1 {
						t.Errorf("text %q, %d tokens, %d shared reads; arrivals (-want +got):\n%s", rec.Answer.Text, rec.Tokens.Out, rec.Answer.SharedReads, diff)
					}
					if rec.Conn.New != (reused == 0) {
						t.Errorf("request %d over %+v", reused, rec.Conn)
					}
				}
				if e := reported(tally); e.Connections.Packed != 2 {
					t.Errorf("%d of 2 answers came compressed", e.Connections.Packed)
				}
			})
		})
	}
}

// compressed is text in gzip's format.
func compressed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	w.Close()
	return b.String()
}

func TestCompressedRepliesThatAreNoStream(t *testing.T) {
	const head = "Content-Type: application/json\r\nContent-Encoding: gzip"
	good := compressed(aChunk + lastChunk + doneEvent)
	for _, test := range []struct {
		name, reply string
		class       record.Class
		message     string
	}{
		{"a refusal", wiretest.Whole("404 Not Found\r\n"+head, compressed(`{"error":{"message":"no such path"}}`)), record.Status, "404 Not Found: no such path (POST http://server.test/v1/completions)"},
		{"an empty refusal", wiretest.Whole("404 Not Found\r\n"+head, ""), record.Status, "404 Not Found (POST http://server.test/v1/completions)"},
		{"a refusal that cannot be read", wiretest.Whole("404 Not Found\r\nContent-Encoding: br", "\x0b\x02\x80oops"), record.Status, "404 Not Found (POST http://server.test/v1/completions)"},
		{"a document", wiretest.Whole("200 OK\r\n"+head, compressed(`{"error":"boom"}`)), record.InStream, "boom"},
		{"brotli", wiretest.Whole("200 OK\r\nContent-Encoding: br", "\x0b\x02\x80oops"), record.Malformed,
			"the answer is compressed (br), although nobody asked for it, and servebench reads only gzip and deflate: switch compression off at the server, or at the proxy before it"},
		{"cut", fmt.Sprintf(packedHead, "gzip") + wiretest.Framed(good[:len(good)/2]) + streamEnd, record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
		{"not gzip at all", fmt.Sprintf(packedHead, "gzip") + wiretest.Framed(aChunk+doneEvent) + streamEnd, record.Malformed, "the answer breaks the protocol: gzip: invalid header"},
		{"nothing", fmt.Sprintf(packedHead, "gzip") + streamEnd, record.Empty, exchange.NeverValid},
		{"not compressed after all", streamHead[:len(streamHead)-2] + "Content-Encoding: identity\r\n\r\n" + wiretest.Framed(aChunk+doneEvent) + streamEnd, record.OK, ""},
	} {
		if got, _ := ask(t, openAIAt(wiretest.DialRaw([]byte(test.reply)), false)); got.Class != test.class || got.Error != test.message {
			t.Errorf("%s: %s, %q", test.name, got.Class, got.Error)
		}
	}
}

func TestCompressedRepliesToCallsAreRead(t *testing.T) {
	reply := wiretest.Whole("200 OK\r\nContent-Encoding: gzip", compressed(`{"data":[{"id":"m"}]}`))
	s := &openai.Server{URL: "http://server.test", Transport: wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialRaw([]byte(reply))}.Transport()}
	if models, err := s.Models(t.Context()); err != nil || len(models) != 1 {
		t.Errorf("models %v, %v", models, err)
	}
	reply = wiretest.Whole("200 OK\r\nContent-Encoding: zstd", "oops")
	s.Transport = wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialRaw([]byte(reply))}.Transport()
	if _, err := s.Models(t.Context()); err == nil || !strings.Contains(err.Error(), "http://server.test/v1/models: the answer is compressed (zstd)") {
		t.Error(err)
	}
}

// unzipped is a transcript as it is without its compression.
func unzipped(t *testing.T, raw []byte) []byte {
	t.Helper()
	reply, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := gzip.NewReader(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(wiretest.Whole("200 OK\r\nContent-Type: text/event-stream", string(text)))
}
