package rows

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
)

// A Grouped is a file of JSON lines in which lines with equal keys belong together, such as the
// turns of a session. It holds where the lines are, not the lines: 16 bytes for each line whose
// key differs from the line before it, and 8 bytes for each key.
type Grouped[T any] struct {
	name   string
	file   io.ReaderAt
	runs   chunks // of lines
	groups []group
}

// A group is the runs of one key, as a list.
type group struct{ first, last uint32 }

// A run is adjacent lines of one key.
type run struct {
	offset int64
	lines  uint32
	next   uint32 // run of the same key; 0 is none
}

// chunks is a list of runs that grows without moving.
type chunks [][]run

const chunkRuns = 1 << 14

func (c *chunks) add(r run) (number uint32) {
	last := len(*c) - 1
	if last < 0 || len((*c)[last]) == chunkRuns {
		*c = append(*c, make([]run, 0, chunkRuns))
		last++
	}
	(*c)[last] = append((*c)[last], r)
	return uint32(last*chunkRuns + len((*c)[last]) - 1)
}

func (c chunks) at(number uint32) *run { return &c[number/chunkRuns][number%chunkRuns] }

// Group reads all lines of a file, and groups them by the key that it gives them. An empty key is a
// group of one line. The key's errors are about the line. The file must stay open for Lines.
func Group[T any](name string, file io.ReaderAt, key func(*Line[T]) (string, error)) (*Grouped[T], error) {
	g := &Grouped[T]{name: name, file: file}
	numbers := map[string]uint32{}
	var before *run // of the line before, and its key
	var keyBefore string
	for line, err := range Lines[T](name, io.NewSectionReader(file, 0, math.MaxInt64)) {
		if err != nil {
			return nil, err
		}
		key, err := key(&line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line.Number, err)
		}
		if key != "" && before != nil && key == keyBefore {
			before.lines++
			continue
		}
		at := g.runs.add(run{offset: line.Offset, lines: 1})
		before, keyBefore = g.runs.at(at), key
		if number, known := numbers[key]; known {
			of := &g.groups[number]
			g.runs.at(of.last).next, of.last = at, at
			continue
		}
		if key != "" {
			numbers[key] = uint32(len(g.groups))
		}
		g.groups = append(g.groups, group{at, at})
	}
	return g, nil
}

// Len is how many groups there are. They are numbered from 0, in the order of their first lines.
func (g *Grouped[T]) Len() int { return len(g.groups) }

// Lines reads the lines of one group. They have offsets, and no numbers.
func (g *Grouped[T]) Lines(number int) ([]Line[T], error) {
	var list []Line[T]
	for at := g.groups[number].first; ; {
		r := g.runs.at(at)
		left := r.lines
		for line, err := range Lines[T](g.name, io.NewSectionReader(g.file, r.offset, math.MaxInt64-r.offset)) {
			line.Number, line.Offset = 0, line.Offset+r.offset
			if err != nil {
				return nil, g.Fault(line, errors.Unwrap(err))
			}
			list = append(list, line)
			if left--; left == 0 {
				break
			}
		}
		if left > 0 {
			return nil, fmt.Errorf("%s: it has changed while it was read", g.name)
		}
		if at = r.next; at == 0 {
			return list, nil
		}
	}
}

// Fault adds the name of the file and the number of a line to err, which is about that line. It
// reads the file up to that line.
func (g *Grouped[T]) Fault(line Line[T], err error) error {
	var before newlines
	if _, unread := io.Copy(&before, bufio.NewReader(io.NewSectionReader(g.file, 0, line.Offset))); unread != nil {
		return fmt.Errorf("%s: %w", g.name, err)
	}
	return fmt.Errorf("%s:%d: %w", g.name, 1+int(before), err)
}
