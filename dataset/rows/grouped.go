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
	runs   chunks // of lines
	groups []group
}

// A group is the runs of one key, as a list.
type group struct{ first, last uint32 }

// A lineRun is adjacent lines of one key.
type lineRun struct {
	offset int64
	lines  uint32
	next   uint32 // run of the same key; 0 is none
}

// chunks is a list of runs that grows without moving.
type chunks [][]lineRun

const chunkRuns = 1 << 14

func (c *chunks) add(r lineRun) (number uint32) {
	last := len(*c) - 1
	if last < 0 || len((*c)[last]) == chunkRuns {
		*c = append(*c, make([]lineRun, 0, chunkRuns))
		last++
	}
	(*c)[last] = append((*c)[last], r)
	return uint32(last*chunkRuns + len((*c)[last]) - 1)
}

func (c chunks) at(number uint32) *lineRun { return &c[number/chunkRuns][number%chunkRuns] }

// Group reads all lines, and groups them by the key that it gives them. A line with an empty key is
// a group by itself. Add, if not nil, gets each line with the number of its group. Errors of the two
// are about the line.
func Group[T any](name string, r io.Reader, key func(*Line[T]) (string, error),
	add func(group int, l *Line[T]) error) (*Grouped[T], error) {
	g := &Grouped[T]{name: name}
	numbers := map[string]int{}
	keyBefore := ""
	for line, err := range Lines[T](name, r) {
		if err != nil {
			return nil, err
		}
		key, err := key(&line)
		if err == nil {
			number, known := numbers[key]
			if key == "" || !known {
				number = len(g.groups)
			}
			if key != "" && !known {
				numbers[key] = number
			}
			g.add(number, line.Offset, key != "" && key == keyBefore)
			if keyBefore = key; add != nil {
				err = add(number, &line)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line.Number, err)
		}
	}
	return g, nil
}

// add adds a line to a group, which may be new. It may be the same group as for the line before.
func (g *Grouped[T]) add(number int, offset int64, same bool) {
	if same {
		g.runs.at(g.groups[number].last).lines++
		return
	}
	at := g.runs.add(lineRun{offset: offset, lines: 1})
	if number == len(g.groups) {
		g.groups = append(g.groups, group{at, at})
		return
	}
	of := &g.groups[number]
	g.runs.at(of.last).next, of.last = at, at
}

// Len is how many groups there are. They are numbered from 0, in the order of their first lines.
func (g *Grouped[T]) Len() int { return len(g.groups) }

// Lines reads the lines of one group from the file. They have offsets, and no numbers.
func (g *Grouped[T]) Lines(file io.ReaderAt, number int) ([]Line[T], error) {
	var list []Line[T]
	buffered := bufio.NewReader(nil) // which Lines takes as it is
	for at := g.groups[number].first; ; {
		r := g.runs.at(at)
		left := r.lines
		buffered.Reset(io.NewSectionReader(file, r.offset, math.MaxInt64-r.offset))
		for line, err := range Lines[T](g.name, buffered) {
			line.Number, line.Offset = 0, line.Offset+r.offset
			if err != nil {
				return nil, g.Fault(file, line, errors.Unwrap(err))
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
func (g *Grouped[T]) Fault(file io.ReaderAt, line Line[T], err error) error {
	var before newlines
	if _, unread := io.Copy(&before, bufio.NewReader(io.NewSectionReader(file, 0, line.Offset))); unread != nil {
		return fmt.Errorf("%s: %w", g.name, err)
	}
	return fmt.Errorf("%s:%d: %w", g.name, 1+int(before), err)
}
