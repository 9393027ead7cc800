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

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// Sender sends requests to an endpoint and reads their answers. An answer has no chunks: the time of
// its last byte is its end. Its prompt tokens are the server's, 0 if the server does not say, as for
// vLLM's client.
func Sender(to *exchange.Endpoint) engine.Sender {
	return func(ctx context.Context, epoch time.Time, req *engine.Request,
		rec *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			form := encodingOf(req.Body) // which is dropped once it is sent
			err := to.Whole(ctx, epoch, req, rec, func(header http.Header, body []byte) error {
				return read(header, body, form, rec)
			})
			if err != nil {
				yield(engine.Chunk{}, err)
			}
		}
	}
}

// read takes from an answer how many tokens the server counted in the prompts. If the answer is
// bytes, the server says so in a header, or not at all: then the dataset's count remains. form is the
// encoding that the request asks for.
func read(header http.Header, body []byte, form string, rec *record.Record) error {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json"); isJSON {
		return count(body, rec)
	}
	switch form {
	case bytesOnly:
		return nil
	case inBytes:
	default:
		return record.Failf(record.Malformed, "the answer is %s, not JSON", record.Shorten(cmp.Or(kind, "of no type")))
	}
	said := header.Get("Metadata")
	if said == "" {
		return record.Failf(record.Malformed, "the answer is bytes, without a header named metadata")
	}
	return count([]byte(said), rec)
}

// The encodings of an answer that is bytes.
const (
	inBytes   = "bytes"
	bytesOnly = "bytes_only"
)

// encodingOf is which of these a request's body asks for, empty for neither. No text in the body can look
// like it, since its quotes are escaped there.
func encodingOf(body []byte) string {
	for _, form := range []string{inBytes, bytesOnly} {
		if bytes.Contains(body, []byte(`"encoding_format": "`+form+`"`)) {
			return form
		}
	}
	return ""
}

// An answer is what counts of a server's JSON.
type answer struct {
	Usage goopenai.Usage
	Error json.RawMessage
}

// count takes the prompt tokens from the JSON of an answer. vLLM's client takes an error for an
// answer without usage.
func count(text []byte, rec *record.Record) error {
	var a answer
	if usage := usageIn(text); usage != nil && json.Unmarshal(usage, &a.Usage) == nil {
		rec.Tokens.In = a.Usage.PromptTokens
		return nil
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return record.Failf(record.Malformed, "the answer is not the JSON of numbers: %s", record.Shorten(err.Error()))
	}
	if a.Error != nil {
		if failure := refusal.Complaint(text); failure != nil {
			rec.Result.Differs = record.DiffersError
			return failure
		}
	}
	rec.Tokens.In = a.Usage.PromptTokens
	return nil
}

// usageKey cannot occur in a text, whose quotes are escaped.
var usageKey = []byte(`"usage"`)

// usageIn is the usage in an answer without an error, if it is easy to find: as the last member of the
// answer, or before any list and any other object. It is nil otherwise. Decoding all numbers would
// take a hundred times as long.
func usageIn(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if !bytes.HasPrefix(text, []byte("{")) || !bytes.HasSuffix(text, []byte("}")) ||
		bytes.Contains(text, []byte(`"error"`)) {
		return nil
	}
	head, tail, found := bytes.Cut(text, usageKey)
	if !found || bytes.Contains(tail, usageKey) {
		return nil
	}
	usage, rest := objectAt(tail)
	if first := !bytes.ContainsAny(head[1:], "{["); first || string(bytes.TrimSpace(rest)) == "}" {
		return usage
	}
	return nil
}

// objectAt is the object behind a key, and what follows it; nil if the value is none.
func objectAt(text []byte) (object, rest []byte) {
	text, found := bytes.CutPrefix(bytes.TrimSpace(text), []byte(":"))
	decoder := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	if !found || decoder.Decode(&raw) != nil || raw[0] != '{' {
		return nil, nil
	}
	return raw, text[decoder.InputOffset():]
}
