package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
)

// Custom takes prompts from a file of JSON lines, as vLLM's custom dataset does: {"prompt": "…",
// "output_tokens": 128}. A row may have an "extra_body", an object whose members its request has; vLLM's
// client ignores it. Custom ignores other columns. It renders and counts prompts as they are
// pulled, on all cores. It sends a prompt as it is written; vLLM's client fails on a file in which
// every prompt is a number. The seed decides the order, and which rows repeat.
type Custom struct {
	Options       // Path must end in .jsonl
	OutputLen int // tokens to ask for; -1: each row's output_tokens
}

// Open reads the file. It returns the source and the number of its conversations.
func (d Custom) Open() (Source, int, error) {
	switch {
	case d.OutputLen < 1 && d.OutputLen != -1:
		return nil, 0, fmt.Errorf("output length %d: must be at least 1, or -1 for the length in each row", d.OutputLen)
	case !strings.HasSuffix(d.Path, ".jsonl"):
		return nil, 0, fmt.Errorf("%s: the name of a custom dataset must end in .jsonl", d.Path)
	}
	rows, err := readFile(d.Path, d.rows)
	if err != nil {
		return nil, 0, err
	}
	source, n := d.source(rows)
	return source, n, nil
}

// source is the source of at least one row.
func (d Custom) source(rows []promptRow) (Source, int) {
	rng := nprand.NewPython(d.Seed)
	if !d.DisableShuffle {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	want := d.Num
	if want <= 0 || d.NoOversample && want > len(rows) {
		want = len(rows)
	}
	if want > len(rows) {
		d.Notice("%s: has %d rows; some are sent again to make %d", d.Path, len(rows), want)
	}
	order := d.Oversample(rng, len(rows), want)
	d.leave(rng)
	return Numbered(want, func(i int) (*Conversation, error) {
		turn, err := d.turn(rows[order[i]])
		if err != nil {
			return nil, err
		}
		return d.Conversation(i, turn), nil
	}), want
}

func (d Custom) turn(row promptRow) (Turn, error) {
	turn := Turn{Prompt: row.prompt, PromptLen: 1, OutputLen: row.outputLen}
	if row.members != nil {
		turn.Payload = &Payload{Members: row.members}
	}
	if d.Template != nil {
		var err error
		if turn.Prompt, err = d.Template(row.prompt); err != nil {
			return turn, fmt.Errorf("%s:%d: chat template: %w", d.Path, row.line, err)
		}
	}
	if d.Tokenizer != nil {
		turn.PromptLen = d.Tokenizer.Count(turn.Prompt, true)
	}
	return turn, nil
}

// rows reads all rows.
func (d Custom) rows(r io.Reader) ([]promptRow, error) {
	type line struct {
		Prompt       *string         `json:"prompt"`
		OutputTokens json.RawMessage `json:"output_tokens"`
		Members      json.RawMessage `json:"extra_body"`
	}
	return readRows(d.Path, r, func(l rows.Line[line]) (promptRow, bool, error) {
		if l.Value.Prompt == nil {
			return promptRow{}, false, errors.New(`no "prompt"`)
		}
		row := promptRow{prompt: *l.Value.Prompt, outputLen: d.OutputLen, line: l.Number}
		err := CheckMembers(l.Value.Members)
		if rows.Present(l.Value.Members) {
			row.members = l.Value.Members
		}
		if d.OutputLen == -1 && err == nil {
			row.outputLen, err = OutputTokens(l.Value.OutputTokens)
		}
		return row, true, err
	})
}

// OutputTokens reads a number of tokens in a column of a file. It accepts a string, and cuts off a fraction, because
// tools often write columns with gaps that way.
func OutputTokens(raw json.RawMessage) (int, error) {
	if !rows.Present(raw) {
		return 0, errors.New(`no "output_tokens", and no output length given`)
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return 0, fmt.Errorf(`"output_tokens" is %s, not a number`, raw)
	}
	if f, err := n.Float64(); err == nil && f >= 1 && f < 1<<31 {
		return int(f), nil
	}
	return 0, fmt.Errorf(`"output_tokens" is %s: must be at least 1`, raw)
}
