package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// A mooncakeRow is a line.
type mooncakeRow struct {
	SessionID    name            `json:"session_id"`
	Timestamp    *float64        `json:"timestamp"` // ms
	Delay        *float64        `json:"delay"`     // ms
	InputLength  *int            `json:"input_length"`
	OutputLength *int            `json:"output_length"`
	HashIDs      hashIDs         `json:"hash_ids"`
	TextInput    *string         `json:"text_input"`
	Messages     json.RawMessage `json:"messages"`
	MessageMode  string          `json:"message_mode"`
	Payload      json.RawMessage `json:"payload"`
	Tools        json.RawMessage `json:"tools"`
	Extra        json.RawMessage `json:"extra"`
}

// A mooncakeKind is what a line has as its prompt.
type mooncakeKind uint8

const (
	lengths  mooncakeKind = iota // a length and hash ids
	text                         // a text that is added to the history
	messages                     // all messages
	deltas                       // messages that are added to the history
)

// kind says what the row has as its prompt.
func (r *mooncakeRow) kind() (mooncakeKind, error) {
	var found []string
	var kind mooncakeKind
	for _, field := range []struct {
		name  string
		there bool
		kind  mooncakeKind
	}{
		{"input_length", r.InputLength != nil, lengths}, {"text_input", r.TextInput != nil, text},
		{"messages", rows.Present(r.Messages), messages}, {"payload", rows.Present(r.Payload), lengths},
	} {
		if field.there {
			found, kind = append(found, field.name), field.kind
		}
	}
	switch {
	case len(found) == 0:
		return 0, errors.New(`no "input_length", "text_input", "messages" or "payload"`)
	case len(found) > 1:
		return 0, fmt.Errorf("%q and %q: a request has one of them", found[0], found[1])
	case found[0] == "payload":
		return 0, errors.New(`"payload": whole bodies are not supported`)
	case r.MessageMode != "" && (r.MessageMode != "delta" || kind != messages):
		return 0, fmt.Errorf(`"message_mode" is %q: may be "delta", with "messages"`, r.MessageMode)
	case r.MessageMode != "":
		return deltas, nil
	}
	return kind, nil
}

// check refuses a row that cannot be sent.
func (r *mooncakeRow) check(kind mooncakeKind, size int) error {
	for _, field := range []struct {
		name string
		ms   *float64
	}{{"timestamp", r.Timestamp}, {"delay", r.Delay}} {
		if field.ms != nil && !(*field.ms >= 0 && *field.ms < maxTime*1000) {
			return fmt.Errorf("%q is %v ms: must be at least 0 and below %v s", field.name, *field.ms, float64(maxTime))
		}
	}
	switch {
	case r.OutputLength != nil && !fits(*r.OutputLength):
		return fmt.Errorf(`"output_length" is %d: %s`, *r.OutputLength, mustFit)
	case kind == lengths && !fits(*r.InputLength):
		return fmt.Errorf(`"input_length" is %d: %s`, *r.InputLength, mustFit)
	case kind == lengths:
		return surplus(len(r.HashIDs), *r.InputLength, size)
	case (kind == messages || kind == deltas) && !bytes.HasPrefix(r.Messages, []byte("[")):
		return errors.New(`"messages" is not a list`)
	}
	return nil
}

// times are when the recording had the row sent, and the gap before it, for a turn whose turn before
// was sent at last. Without a timestamp, that is the earliest time that the delay permits.
func (r *mooncakeRow) times(last time.Duration) (at, gap time.Duration) {
	if r.Delay != nil {
		gap = dataset.Seconds(*r.Delay / 1000)
	} else if r.Timestamp != nil {
		gap = max(0, dataset.Seconds(*r.Timestamp/1000)-last)
	}
	if r.Timestamp != nil {
		return dataset.Seconds(*r.Timestamp / 1000), gap
	}
	return dataset.Plus(last, gap), gap
}
