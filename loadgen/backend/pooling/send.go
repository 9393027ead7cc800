package pooling

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics"
)

// Sender sends requests to an endpoint and reads their answers. An answer has no chunks: the time of
// its last byte is its end. Its prompt tokens are the server's, 0 if the server does not say, as for
// vLLM's client.
func Sender(to *openai.Endpoint) engine.Sender {
	return func(ctx context.Context, epoch time.Time, req *engine.Request, rec *metrics.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			err := to.Whole(ctx, epoch, req, rec, func(header http.Header, body []byte) error {
				return read(header, body, req, rec)
			})
			if err != nil {
				yield(engine.Chunk{}, err)
			}
		}
	}
}

// read takes from an answer how many tokens the server counted in the prompts. If the answer is
// bytes, the server says so in a header, or not at all: then the dataset's count remains.
func read(header http.Header, body []byte, req *engine.Request, rec *metrics.Record) error {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json"); isJSON {
		return count(body, rec)
	}
	switch {
	case asks(req, "bytes_only"):
		return nil
	case !asks(req, "bytes"):
		return metrics.Failf(metrics.Malformed, "the answer is %s, not JSON", metrics.Shorten(cmp.Or(kind, "of no type")))
	}
	said := header.Get("Metadata")
	if said == "" {
		return metrics.Failf(metrics.Malformed, "the answer is bytes, without a header named metadata")
	}
	return count([]byte(said), rec)
}

// asks reports whether the body of req asks for that encoding of the numbers. No text in the body
// can look like it, since its quotes are escaped there.
func asks(req *engine.Request, encoding string) bool {
	return bytes.Contains(req.Body, []byte(`"encoding_format": "`+encoding+`"`))
}

// count takes the prompt tokens from the JSON of an answer. vLLM's client takes an error for an
// answer without usage.
func count(text []byte, rec *metrics.Record) error {
	var answer struct {
		Usage goopenai.Usage
		Error json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return metrics.Failf(metrics.Malformed, "the answer is not the JSON of numbers: %s", metrics.Shorten(err.Error()))
	}
	if answer.Error != nil {
		if failure := openai.Complaint(text); failure != nil {
			rec.Differs = metrics.DiffersError
			return failure
		}
	}
	rec.In = answer.Usage.PromptTokens
	return nil
}
