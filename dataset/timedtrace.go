package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
)

// TimedTrace replays a trace in JSON lines, as vLLM's timed_trace dataset does, in the order of the
// file: {"timestamp": 27.0, "input_length": 40, "output_length": 500, "hash_ids": [46, 47, 2353]}.
// Each hash id means ChunkSize tokens, the last one the rest of the length; prompts that share
// their first hash ids share their beginning. The hash ids bound the length of a prompt.
//
// Lengths and times equal vLLM's. The tokens are ours, because vLLM uses Python's hash of a string,
// which differs from process to process. Here numpy's default_rng draws the tokens of a chunk from
// the ids that are not special. Its seed is the FNV-1a hash of Seed, the hash id as written, and
// the number of tokens in the chunk. Open seeds NumPy with 0, as vLLM's client does whatever the
// seed of the run.
type TimedTrace struct {
	Options            // Num is a maximum
	Text       bool    // prompts are sent as text instead of as token ids; needs a Tokenizer
	ChunkSize  int     // tokens for each hash id
	Multiplier float64 // seconds in a unit of the timestamps
	Labels     TraceLabels
}

// TraceLabels are the names of the fields of a trace. An empty one is the default name of vLLM's
// client.
type TraceLabels struct{ Timestamp, InputLength, OutputLength, HashIDs string }

// Open reads the file. It returns the source and the number of its conversations.
func (d TimedTrace) Open() (Source, int, error) {
	if err := d.checkNum(); err != nil {
		return nil, 0, err
	}
	switch {
	case d.ChunkSize < 1:
		return nil, 0, fmt.Errorf("chunk size %d: must be at least 1", d.ChunkSize)
	case !(d.Multiplier >= 0):
		return nil, 0, fmt.Errorf("multiplier %v: must not be negative", d.Multiplier)
	case d.Text && d.Tokenizer == nil:
		return nil, 0, errors.New("timed_trace: needs a tokenizer to send text")
	}
	allowed, err := d.Allowed()
	if err != nil {
		return nil, 0, err
	}
	if !d.Text {
		d.Tokenizer = nil
	}
	rows, err := readFile(d.Path, d.rows)
	if err != nil {
		return nil, 0, err
	}
	if d.NumPy != nil {
		*d.NumPy = *nprand.NewRandomState(0)
	}
	return Numbered(len(rows), func(i int) (*Conversation, error) {
		c := d.conversation(i, d.turn(rows[i], allowed))
		c.Due = new(rows[i].due)
		return c, nil
	}), len(rows), nil
}

// turn makes the prompt of a row.
func (d TimedTrace) turn(row traceRow, allowed []int) Turn {
	ids := make([]int, 0, row.input)
	for _, id := range row.hashIDs {
		n := min(d.ChunkSize, row.input-len(ids))
		hash := fnv.New64a()
		fmt.Fprintf(hash, "%d:%s:%d", d.Seed, id, n)
		rng := nprand.NewGenerator(hash.Sum64())
		for range n {
			ids = append(ids, allowed[rng.Integers(0, int64(len(allowed)))])
		}
	}
	turn := Turn{OutputLen: row.output}
	d.fill(&turn, ids)
	return turn
}

// A traceRow is a request of a trace. It has no more hash ids than its input needs.
type traceRow struct {
	due           float64 // seconds
	input, output int     // tokens
	hashIDs       []json.RawMessage
}

// rows reads the first rows, at most Num.
func (d TimedTrace) rows(r io.Reader) ([]traceRow, error) {
	labels := TraceLabels{
		cmp.Or(d.Labels.Timestamp, "timestamp"), cmp.Or(d.Labels.InputLength, "input_length"),
		cmp.Or(d.Labels.OutputLength, "output_length"), cmp.Or(d.Labels.HashIDs, "hash_ids"),
	}
	var list []traceRow
	for line, err := range rows.Lines[map[string]json.RawMessage](d.Path, r) {
		if err != nil {
			return nil, err
		}
		row, err := d.row(line.Value, labels)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, line.Number, err)
		}
		if list = append(list, row); len(list) == d.Num {
			break
		}
	}
	return list, nil
}

func (d TimedTrace) row(fields map[string]json.RawMessage, labels TraceLabels) (traceRow, error) {
	var row traceRow
	for _, field := range []struct {
		label string
		into  any
	}{
		{labels.Timestamp, &row.due}, {labels.InputLength, &row.input},
		{labels.OutputLength, &row.output}, {labels.HashIDs, &row.hashIDs},
	} {
		raw := fields[field.label]
		if !rows.Present(raw) {
			return row, fmt.Errorf("no %q", field.label)
		}
		if err := json.Unmarshal(raw, field.into); err != nil {
			return row, fmt.Errorf("%q: %w", field.label, rows.Plain(err))
		}
	}
	row.due *= d.Multiplier
	switch {
	case !(row.due >= 0 && row.due < maxDue):
		return row, fmt.Errorf("%q is %v seconds: must be at least 0 and below %v", labels.Timestamp, row.due, float64(maxDue))
	case row.input < 1 || row.output < 1:
		return row, fmt.Errorf("%q and %q are %d and %d: must be at least 1", labels.InputLength, labels.OutputLength, row.input, row.output)
	case len(row.hashIDs) == 0:
		return row, fmt.Errorf("no %q", labels.HashIDs)
	}
	if chunks := (row.input-1)/d.ChunkSize + 1; chunks < len(row.hashIDs) {
		row.hashIDs = row.hashIDs[:chunks]
	}
	row.input = min(row.input, len(row.hashIDs)*d.ChunkSize)
	return row, nil
}
