package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// Custom takes prompts from a file of JSON lines, as vLLM's custom dataset does:
// {"prompt": "…", "output_tokens": 128}. Other columns are not looked at. Prompts
// are tokenized as they are pulled.
type Custom struct {
	Path             string              // must end in .jsonl
	Tokenizer        tokenizer.Tokenizer // nil: every prompt counts as one token
	Num              int                 // conversations wanted; 0 and less: all
	OutputLen        int                 // tokens to ask for; -1: each row's output_tokens
	SkipChatTemplate bool                // must be set: templates are not supported yet
	Seed             int64               // of the order, and of the choice of rows that come again
	DisableShuffle   bool                // keep the order of the file
	NoOversample     bool                // rather fewer than Num than some again
	IDPrefix         string
	Log              func(format string, args ...any) // notices for people; may be nil
}

// Open reads the file, and gives the source and the number of conversations it
// yields.
func (d Custom) Open() (Source, int, error) {
	switch {
	case !d.SkipChatTemplate:
		return nil, 0, errors.New("custom: chat templates are not supported yet: skip them")
	case d.OutputLen < 1 && d.OutputLen != -1:
		return nil, 0, fmt.Errorf("output length %d: must be at least 1, or -1 for that of each row", d.OutputLen)
	case !strings.HasSuffix(d.Path, ".jsonl"):
		return nil, 0, fmt.Errorf("%s: the name of a custom dataset must end in .jsonl", d.Path)
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	rows, err := d.rows(f)
	if err != nil {
		return nil, 0, err
	}
	rng := nprand.NewPython(d.Seed)
	if !d.DisableShuffle {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	want := d.Num
	if want <= 0 || d.NoOversample && want > len(rows) {
		want = len(rows)
	}
	if want > len(rows) {
		notice(d.Log, "%s: has %d rows; some are sent again to make %d", d.Path, len(rows), want)
	}
	order := oversample(rng, d.Seed, len(rows), want)
	source := func(yield func(*Conversation, error) bool) {
		for i, k := range order {
			if !yield(&Conversation{ID: d.IDPrefix + strconv.Itoa(i), Turns: []Turn{d.turn(rows[k])}}, nil) {
				return
			}
		}
	}
	return source, len(order), nil
}

func (d Custom) turn(row customRow) Turn {
	turn := Turn{Prompt: row.prompt, PromptLen: 1, OutputLen: row.outputLen}
	if d.Tokenizer != nil {
		turn.PromptLen = d.Tokenizer.Count(row.prompt, true)
	}
	return turn
}

type customRow struct {
	prompt    string
	outputLen int
}

// rows reads all rows.
func (d Custom) rows(r io.Reader) ([]customRow, error) {
	type row struct {
		Prompt       *string         `json:"prompt"`
		OutputTokens json.RawMessage `json:"output_tokens"`
	}
	var rows []customRow
	for line, err := range jsonLines[row](d.Path, r) {
		if err != nil {
			return nil, err
		}
		if line.value.Prompt == nil {
			return nil, fmt.Errorf(`%s:%d: no "prompt"`, d.Path, line.number)
		}
		outputLen := d.OutputLen
		if outputLen == -1 {
			if outputLen, err = outputTokens(line.value.OutputTokens); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", d.Path, line.number, err)
			}
		}
		rows = append(rows, customRow{*line.value.Prompt, outputLen})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", d.Path)
	}
	return rows, nil
}

// outputTokens reads a number of tokens. It may be written as a string or with a
// fraction, which is cut: columns with gaps often were, on their way.
func outputTokens(raw json.RawMessage) (int, error) {
	if !present(raw) {
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
