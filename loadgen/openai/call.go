package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// maxReply bounds the reply to a call, in bytes. The ids of a million tokens have 7 million bytes,
// and many calls run at once.
const maxReply = 16 << 20

// A call is one request to a server, other than a stream.
type call struct {
	server *Server
	path   string        // what follows the server's URL
	body   pyjson.Object // what it posts; nil if it gets
}

// nothing is the body of a call that posts nothing.
var nothing = pyjson.Object{}

func (s *Server) get(path string) call { return call{s, path, nil} }

func (s *Server) post(path string, body pyjson.Object) call { return call{s, path, body} }

// String names the call in messages.
func (c call) String() string { return c.server.URL + c.path }

// url is where the call goes.
func (c call) url() string {
	url := strings.TrimSuffix(c.server.URL, "/") + c.path
	if c.server.Query == "" {
		return url
	}
	if strings.Contains(c.path, "?") {
		return url + "&" + c.server.Query
	}
	return url + "?" + c.server.Query
}

// lacks says that a reply does not have vLLM's shape: other servers have calls of the same names.
func (c call) lacks(field string) error {
	return record.Failf(record.Malformed, "the reply of %s has no %q", c, field)
}

// decode makes the call and decodes the reply's JSON into v.
func (c call) decode(ctx context.Context, v any) error {
	text, err := c.read(ctx)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("reading the reply of %s: %s", c, unexpected(err))
	}
	return nil
}

// unexpected says why encoding/json rejected some JSON, in the words of JSON instead of Go.
func unexpected(err error) string {
	odd, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return record.Shorten(err.Error())
	}
	what, found := "it", odd.Value
	if odd.Field != "" {
		what = strconv.Quote(odd.Field)
	}
	found, _, _ = strings.Cut(found, " ") // for a number, it has the digits as well
	want := map[reflect.Kind]string{reflect.Struct: "object", reflect.Slice: "array",
		reflect.String: "string"}[odd.Type.Kind()]
	return fmt.Sprintf("%s is of type %s, not %s", what, found, cmp.Or(want, "number"))
}

// read makes the call, and returns the body of a reply with status 200. Its errors name the URL.
func (c call) read(ctx context.Context) ([]byte, error) {
	text, err := c.ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	return text, nil
}

func (c call) ask(ctx context.Context) ([]byte, error) {
	if limit := c.server.Limit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, record.Failf(record.Timeout, "no answer within %v", limit))
		defer cancel()
	}
	reply, err := c.do(ctx)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, refusal.Of(reply, reply.Body)
	}
	if err := wire.Unreadable(reply); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, wire.CutOff(ctx, err)
	case len(text) > maxReply:
		return nil, record.Failf(record.Malformed, "the reply is longer than %d MiB", maxReply>>20)
	}
	return text, nil
}

// do posts the body, or gets if there is no body.
func (c call) do(ctx context.Context) (*http.Response, error) {
	method, content := http.MethodGet, []byte(nil)
	if c.body != nil {
		method = http.MethodPost
	}
	if len(c.body) > 0 {
		content = pyjson.Append(nil, c.body)
	}
	t := &wire.Trace{Epoch: time.Now()}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, t.Hooks()), method, c.url(),
		bytes.NewReader(content))
	if err != nil {
		return nil, record.Failf(record.Connect, "%w", err)
	}
	if c.server.Header != nil {
		r.Header = c.server.Header.Clone()
	}
	switch {
	case len(content) > 0:
	case c.path == startProfile || c.path == stopProfile:
		r.Header.Set("Content-Type", "application/octet-stream") // as aiohttp for vLLM's client
	default:
		r.Header.Del("Content-Type") // describes the body
	}
	reply, err := exchange.RoundTrip(c.server.Transport, r)
	if err != nil {
		return nil, t.Failure(ctx, err)
	}
	wire.Unpack(reply)
	return reply, nil
}
