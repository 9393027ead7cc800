package exchange

import (
	"bytes"
	"context"
	"net/http"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// What tests in other packages need of this one.
const (
	MaxChunks     = maxChunks
	MaxText       = maxText
	MaxFinish     = maxFinish
	SmallBody     = smallBody
	UserAgent     = userAgent
	LingerTimeout = lingerTimeout
)

var TraceContext = traceContext

func Post(o *Endpoint, ctx context.Context, req *engine.Request, body *bytes.Reader) (*http.Response, error) {
	return o.post(ctx, req, body)
}

func Answered(o *Endpoint, req *engine.Request, rec *record.Record, body []byte) error {
	return o.answered(req, rec, body)
}
