package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// BurstGPT takes the lengths of requests from a trace in a CSV file, as vLLM's
// burstgpt dataset does: of the rows whose "Model" is GPT-4 and that have "Response
// tokens", the third and the fourth column. The times in the file are not looked
// at. Prompt i is made of the successive tokens from i on, which are not fitted.
type BurstGPT struct {
	Path      string
	Tokenizer tokenizer.Tokenizer // nil: prompts are sent as token ids
	VocabSize int                 // ids are below it; not looked at with a Tokenizer
	Num       int                 // conversations to make; rows come again when there are fewer
	Seed      int64               // of the choice of rows, 0 to 2³²−1
	IDPrefix  string
}

// Open reads the file, and gives the source and the number of conversations it
// yields.
func (d BurstGPT) Open() (Source, int, error) {
	if d.Tokenizer != nil {
		d.VocabSize = d.Tokenizer.VocabSize()
	}
	switch {
	case d.Num < 1:
		return nil, 0, fmt.Errorf("number of prompts %d: must be at least 1", d.Num)
	case d.VocabSize < 1:
		return nil, 0, fmt.Errorf("a vocabulary of %d tokens leaves none to make prompts of", d.VocabSize)
	case d.Seed < 0 || d.Seed > math.MaxUint32:
		return nil, 0, fmt.Errorf("seed %d: must be between 0 and %d", d.Seed, uint32(math.MaxUint32))
	}
	rows, err := readFile(d.Path, d.rows)
	if err != nil {
		return nil, 0, err
	}
	chosen := d.choose(len(rows))
	source := func(yield func(*Conversation, error) bool) {
		for c := range ordered(slices.Values(indices(d.Num)), func(i int) *Conversation {
			return &Conversation{ID: d.IDPrefix + strconv.Itoa(i), Turns: []Turn{d.turn(i, rows[chosen[i]])}}
		}) {
			if !yield(c, nil) {
				return
			}
		}
	}
	return source, d.Num, nil
}

// choose gives the positions of Num rows, as the sample method of pandas does.
func (d BurstGPT) choose(have int) []int {
	rng := nprand.NewRandomState(uint32(d.Seed))
	if d.Num <= have {
		return rng.Permutation(have)[:d.Num]
	}
	chosen := make([]int, d.Num)
	for i := range chosen {
		chosen[i] = int(rng.Intn(int64(have)))
	}
	return chosen
}

func (d BurstGPT) turn(i int, row burstRow) Turn {
	ids := make([]int, row.prompt)
	for j := range ids {
		ids[j] = (i + j) % d.VocabSize
	}
	turn := Turn{PromptLen: row.prompt, OutputLen: row.output}
	if d.Tokenizer == nil {
		turn.TokenIDs = ids
	} else {
		turn.Prompt = d.Tokenizer.Decode(ids)
	}
	return turn
}

// A burstRow holds the lengths of a request and its answer, in tokens.
type burstRow struct{ prompt, output int }

// The columns of a trace that are found by place, from 0.
const (
	burstPrompt  = 2
	burstOutput  = 3
	burstColumns = 4
)

// maxBurstLen is more than any model takes: a longer prompt is a broken file.
const maxBurstLen = 1 << 28

// rows reads the rows that count.
func (d BurstGPT) rows(r io.Reader) ([]burstRow, error) {
	table := csv.NewReader(r)
	table.ReuseRecord = true
	head, err := table.Read()
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, d.fault(table, err)
	}
	model, answer := slices.Index(head, "Model"), slices.Index(head, "Response tokens")
	if model < 0 || answer < 0 || len(head) < burstColumns {
		return nil, d.fault(table, errors.New(`the first line must name at least four columns, "Model" and "Response tokens" among them`))
	}
	var rows []burstRow
	for {
		record, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, d.fault(table, err)
		}
		if record[model] != "GPT-4" || !positive(record[answer]) {
			continue
		}
		var row burstRow
		if row.prompt, err = tokens(record[burstPrompt]); err == nil {
			row.output, err = tokens(record[burstOutput])
		}
		if err != nil {
			return nil, d.fault(table, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no row has the model GPT-4 and response tokens", d.Path)
	}
	return rows, nil
}

// fault gives err the name of the file and the line.
func (d BurstGPT) fault(table *csv.Reader, err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%s:%d: %w", d.Path, parse.Line, parse.Err)
	}
	line, _ := table.FieldPos(0)
	return fmt.Errorf("%s:%d: %w", d.Path, line, err)
}

func positive(field string) bool {
	f, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil && f > 0
}

// tokens reads a number of tokens; a fraction is cut, as columns with gaps have
// one.
func tokens(field string) (int, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	if err != nil || !(f >= 1 && f < maxBurstLen) {
		return 0, fmt.Errorf("%q is not a number of tokens", field)
	}
	return int(f), nil
}

// indices is 0 to n−1.
func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
