package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
)

// BurstGPT takes the lengths of requests from a trace in a CSV file, as vLLM's burstgpt dataset
// does: the third and the fourth column of the rows whose "Model" is GPT-4 and that have "Response
// tokens". It ignores the times in the file. Prompt i consists of the successive tokens from i on,
// which are not fitted. The seed, 0 to 2³²−1, chooses the rows; some repeat if Num exceeds their
// number.
type BurstGPT struct{ Options }

// Open reads the file. It returns the source and the number of its conversations.
func (d BurstGPT) Open() (Source, int, error) {
	if err := d.CheckNum(); err != nil {
		return nil, 0, err
	}
	vocab, _ := d.vocabulary()
	if vocab < 1 {
		return nil, 0, errNoTokens(vocab)
	}
	if err := d.checkSeed(); err != nil {
		return nil, 0, err
	}
	rows, err := readFile(d.Path, d.rows)
	if err != nil {
		return nil, 0, err
	}
	chosen := d.choose(len(rows))
	d.leave(nprand.NewPython(d.Seed))
	return Numbered(d.Num, func(i int) (*Conversation, error) {
		row := rows[chosen[i]]
		ids := make([]int, row.prompt)
		for j := range ids {
			ids[j] = (i + j) % vocab
		}
		turn := Turn{OutputLen: row.output}
		d.fill(&turn, ids)
		return d.Conversation(i, turn), nil
	}), d.Num, nil
}

// choose draws the positions of Num rows, as the sample method of pandas does.
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

// A burstRow holds the lengths of a request and its answer, in tokens.
type burstRow struct{ prompt, output int }

// The columns of a trace that are identified by their position, from 0.
const (
	burstPrompt  = 2
	burstOutput  = 3
	burstColumns = 4
)

// maxBurstLen is longer than any model accepts: a longer prompt means a broken file.
const maxBurstLen = 1 << 28

// rows reads the rows of GPT-4 that have an answer.
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

// fault adds the name of the file and the line to err.
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

// tokens reads a number of tokens. It cuts off a fraction: pandas writes one into
// columns with gaps.
func tokens(field string) (int, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	if err != nil || !(f >= 1 && f < maxBurstLen) {
		return 0, fmt.Errorf("%q is not a number of tokens", field)
	}
	return int(f), nil
}
