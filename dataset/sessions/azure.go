package sessions

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
)

// Azure replays a trace in the form of Azure's public traces of LLM inference: a CSV file with the
// columns TIMESTAMP, ContextTokens and GeneratedTokens. It has times and lengths, and no prompts, so
// no two prompts share anything. A row is a session named after its line. Times count from the
// earliest row. Rows that ask for nothing or got no answer are left out.
type Azure struct {
	dataset.Options      // Num 0 and less means all; with a Tokenizer or VocabSize
	Text            bool // prompts are sent as text, as chats need
}

// Open reads the file. It returns the source and the number of its sessions.
func (d Azure) Open() (dataset.Source, int, error) {
	file, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	return d.read(file)
}

// read reads a file, which must stay open for the source.
func (d Azure) read(file io.ReaderAt) (dataset.Source, int, error) {
	scope, err := contents(file)
	if err != nil {
		return nil, 0, fmt.Errorf("reading %s: %w", d.Path, err)
	}
	minter, err := dataset.NewMinter(&d.Options, d.Text)
	if err != nil {
		return nil, 0, err
	}
	count, sorted, latest, empty := 0, true, time.Time{}, 0
	var zero time.Time
	for row, err := range d.rows(file) {
		switch {
		case err != nil:
			return nil, 0, err
		case row.empty():
			empty++
			continue
		case count == 0 || row.at.Before(zero):
			zero = row.at
		}
		sorted = sorted && !row.at.Before(latest)
		latest = row.at
		count++
	}
	if empty > 0 {
		notice(&d.Options, "%s: %d of %d rows have no tokens to send or none in the answer: left out", d.Path, empty,
			count+empty)
	}
	if count == 0 {
		return nil, 0, fmt.Errorf("%s: no row has a request with an answer", d.Path)
	}
	all := d.rows
	if !sorted {
		all = d.sorted
	}
	n := number(&d.Options, count)
	return func(yield func(*dataset.Conversation, error) bool) {
		sent := 0
		for row, err := range all(file) {
			if err != nil {
				yield(nil, err)
				return
			}
			if row.empty() {
				continue
			}
			if !yield(d.session(row, row.at.Sub(zero), scope, minter), nil) {
				return
			}
			if sent++; sent == n {
				return
			}
		}
	}, n, nil
}

// session is the session of a row.
func (d Azure) session(row azureRow, at time.Duration, scope string, minter *dataset.Minter) *dataset.Conversation {
	id := "row-" + strconv.Itoa(row.line)
	due := seconds(at)
	return &dataset.Conversation{ID: d.IDPrefix + id, Due: &due, Mint: minter.Mint, Turns: []dataset.Turn{{
		PromptLen: row.input, OutputLen: row.output, At: &due,
		Tail: dataset.Block{ID: dataset.BlockID(d.Seed, scope, id), Tokens: int32(row.input)},
	}}}
}

// An azureRow is a request.
type azureRow struct {
	at            time.Time
	input, output int // tokens
	line          int
}

func (r *azureRow) empty() bool { return r.input == 0 || r.output == 0 }

// The columns of the file.
var azureColumns = []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// rows yields the rows of a file in their order. An error names the file and the line.
func (d Azure) rows(file io.ReaderAt) func(yield func(azureRow, error) bool) {
	return func(yield func(azureRow, error) bool) {
		lines := bufio.NewReader(io.NewSectionReader(file, 0, math.MaxInt64))
		var columns []int
		for number := 1; ; number++ {
			text, err := lines.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				err = errors.New("a line of more than 4096 bytes is no row of this form")
			}
			last := err == io.EOF
			if last {
				err = nil
			}
			row := azureRow{line: number}
			text = bytes.TrimSpace(text)
			switch fields := strings.Split(string(text), ","); {
			case err != nil || len(text) == 0:
			case columns == nil:
				columns, err = azureHead(fields)
				text = nil
			default:
				err = row.read(fields, columns)
			}
			if err != nil {
				yield(row, fmt.Errorf("%s:%d: %w", d.Path, number, err))
				return
			}
			if len(text) > 0 && !yield(row, nil) || last {
				return
			}
		}
	}
}

// sorted yields the rows of a file in the order of their times. It holds all of them.
func (d Azure) sorted(file io.ReaderAt) func(yield func(azureRow, error) bool) {
	return func(yield func(azureRow, error) bool) {
		var list []azureRow
		for row, err := range d.rows(file) {
			if err != nil {
				yield(row, err)
				return
			}
			list = append(list, row)
		}
		slices.SortStableFunc(list, func(a, b azureRow) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.line, b.line))
		})
		for _, row := range list {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// azureHead finds the columns in the first line.
func azureHead(names []string) (columns []int, err error) {
	for i := range names {
		names[i] = strings.Trim(names[i], "\ufeff\" ")
	}
	for _, name := range azureColumns {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, fmt.Errorf("no column %q", name)
		}
		columns = append(columns, at)
	}
	return columns, nil
}

// read reads the fields of a row.
func (r *azureRow) read(fields []string, columns []int) (err error) {
	if len(fields) <= slices.Max(columns) {
		return fmt.Errorf("%d columns: fewer than in the first line", len(fields))
	}
	field := func(column int) string { return strings.Trim(fields[columns[column]], `" `) }
	if r.at, err = azureTime(field(0)); err != nil {
		return err
	}
	for i, into := range []*int{&r.input, &r.output} {
		n, err := strconv.Atoi(field(1 + i))
		if err != nil || n < 0 || n >= maxLen {
			return fmt.Errorf("%s is %q: must be at least 0 and below 2²⁸", azureColumns[1+i], field(1+i))
		}
		*into = n
	}
	return nil
}

// azureTime reads a time. The traces of 2023 have no zone, later ones have one.
func azureTime(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700"} {
		if at, err := time.Parse(layout, strings.Replace(text, "T", " ", 1)); err == nil && at.Year() > 1700 &&
			at.Year() < 2200 {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is %q: must be a time such as 2023-11-16 18:15:46.6805900", azureColumns[0], text)
}
