package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
)

// TimedTrace replays a trace in JSON lines, as vLLM's timed_trace dataset does:
// {"timestamp": 27.0, "input_length": 40, "output_length": 500, "hash_ids": [46, 47, 2353]}. Each
// hash id means ChunkSize tokens, the last one the rest of the length; prompts that share their
// first hash ids share their beginning. The hash ids bound the length of a prompt, and surplus ones
// have no effect.
//
// Requests come in the order of their times, equal ones as in the file. VLLM's client keeps the
// order of the file, and so sends late what stands behind a later line.
//
// Lengths and times equal vLLM's. The tokens are ours, because vLLM uses Python's hash of a string,
// which differs from process to process. Here numpy's default_rng draws the tokens of a chunk from
// the ids that are not special. Its seed is the FNV-1a hash of Seed, the hash id as written, and
// the number of tokens in the chunk. Open seeds NumPy and Python with 0, as vLLM's client does whatever
// the seed of the run.
type TimedTrace struct {
	Options            // Num is a maximum
	Text       bool    // prompts are sent as text instead of as token ids; needs a Tokenizer
	ChunkSize  int     // tokens for each hash id
	Multiplier float64 // seconds in a unit of the timestamps
	FileOrder  bool    // keep the order of the file, for arrivals that do not follow its times
	Labels     TraceLabels
}

// TraceLabels are the names of the fields of a trace. An empty one is the default name of vLLM's
// client.
type TraceLabels struct{ Timestamp, InputLength, OutputLength, HashIDs string }

// Open reads the file. It returns the source and the number of its conversations.
func (d TimedTrace) Open() (Source, int, error) {
	if err := d.CheckNum(); err != nil {
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
	d.order(rows)
	if d.NumPy != nil {
		*d.NumPy = *nprand.NewRandomState(0)
	}
	d.leave(nprand.NewPython(0))
	return Numbered(len(rows), func(i int) (*Conversation, error) {
		c := d.Conversation(rows[i].number, d.turn(rows[i], allowed))
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

// order sorts the rows by their times, and tells people what vLLM's client does with this file that
// they might not expect.
func (d TimedTrace) order(list []traceRow) {
	late, surplus, cut, sessions, latest := 0, 0, 0, 0, 0.0
	for _, row := range list {
		if row.due < latest {
			late++
		}
		latest = max(latest, row.due)
		surplus += row.surplus
		cut += row.cut
		if row.session {
			sessions++
		}
	}
	if late > 0 && !d.FileOrder {
		d.Notice("%s: %d of %d lines stand behind a later one: requests are sent in the order of their times. "+
			"VLLM's client sends them in the order of the file, those %d late", d.Path, late, len(list), late)
		slices.SortStableFunc(list, func(a, b traceRow) int { return cmp.Compare(a.due, b.due) })
	}
	if surplus > 0 {
		d.Notice("%s: %d hash ids are more than their lines have chunks of %d tokens: they have no effect, as in vLLM's "+
			"client", d.Path, surplus, d.ChunkSize)
	}
	if cut > 0 {
		d.Notice("%s: the hash ids of some lines stand for %d tokens fewer than their input_length: their prompts are "+
			"shorter by that, as in vLLM's client. "+
			"The mooncake dataset keeps the lengths", d.Path, cut)
	}
	if sessions > 0 {
		d.Notice("%s: %d lines have a session_id, which has no effect here: the mooncake dataset sends sessions", d.Path,
			sessions)
	}
}

// A traceRow is a request of a trace. It has no more hash ids than its input needs.
type traceRow struct {
	number        int     // in the file, from 0
	due           float64 // seconds
	input, output int     // tokens
	hashIDs       []json.RawMessage
	surplus, cut  int  // hash ids and tokens that were left out
	session       bool // it has a session id
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
		row.number = len(list)
		if list = append(list, row); len(list) == d.Num {
			break
		}
	}
	return list, nil
}

func (d TimedTrace) row(fields map[string]json.RawMessage, labels TraceLabels) (traceRow, error) {
	row := traceRow{session: rows.Present(fields["session_id"])}
	for _, field := range []struct {
		label string
		into  any
	}{
		{labels.Timestamp, &row.due}, {labels.InputLength, &row.input},
		{labels.OutputLength, &row.output}, {labels.HashIDs, &row.hashIDs},
	} {
		raw := fields[field.label]
		if !rows.Present(raw) {
			if row.session || rows.Present(fields["delay"]) {
				return row, fmt.Errorf("no %q: the mooncake dataset reads lines with a session_id or a delay", field.label)
			}
			return row, fmt.Errorf("no %q", field.label)
		}
		if err := json.Unmarshal(raw, field.into); err != nil {
			return row, fmt.Errorf("%q: %w", field.label, rows.Plain(err))
		}
	}
	row.due *= d.Multiplier
	switch {
	case !(row.due >= 0 && row.due < MaxDue):
		return row, fmt.Errorf("%q is %v seconds: must be at least 0 and below %v", labels.Timestamp, row.due,
			float64(MaxDue))
	case row.input < 1 || row.output < 1:
		return row, fmt.Errorf("%q and %q are %d and %d: must be at least 1", labels.InputLength, labels.OutputLength,
			row.input, row.output)
	case len(row.hashIDs) == 0:
		return row, fmt.Errorf("no %q", labels.HashIDs)
	}
	if chunks := (row.input-1)/d.ChunkSize + 1; chunks < len(row.hashIDs) {
		row.surplus = len(row.hashIDs) - chunks
		row.hashIDs = row.hashIDs[:chunks]
	}
	row.cut = max(0, row.input-len(row.hashIDs)*d.ChunkSize)
	row.input -= row.cut
	return row, nil
}
