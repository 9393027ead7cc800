package sessions

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// Mooncake replays a trace in JSON lines in the form of Mooncake, with AIPerf's additions. A line is
// a request:
//
//	{"timestamp": 27000, "input_length": 6755, "output_length": 500, "hash_ids": [46, 47, 2353]}
//
// A hash id means BlockSize tokens, the last one what is left of the length. Tokens after the last
// hash id are in no other prompt. In place of a length, a line may have a prompt as "text_input" or
// as "messages", whole or, with "message_mode": "delta", only what they add.
//
// Lines with equal "session_id" are the turns of a session in the order of the file, wherever they
// stand; a line without it is a session named after the line. Its "timestamp" and "delay" are
// milliseconds: from the start of the trace, and from the end of the turn before. Sessions start in
// the order of their first timestamps. A file has timestamps for all sessions or for none.
type Mooncake struct {
	dataset.Options      // Num 0 and less means all; with a Tokenizer or VocabSize for lengths
	Text            bool // prompts of lengths are sent as text, and texts as messages, as chats need
	BlockSize       int  // tokens for each hash id; 0 means 512
}

// mooncakeBlock is the size of a block in the traces that Mooncake's authors published.
const mooncakeBlock = 512

// Open reads the file. It returns the source and the number of its sessions.
func (d Mooncake) Open() (dataset.Source, int, error) {
	file, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	return d.read(file)
}

// read reads a file, which must stay open for the source.
func (d Mooncake) read(file io.ReaderAt) (dataset.Source, int, error) {
	if d.BlockSize = cmp.Or(d.BlockSize, mooncakeBlock); d.BlockSize < 1 {
		return nil, 0, fmt.Errorf("block size %d: must be at least 1", d.BlockSize)
	}
	scan := mooncakeScan{d: &d, of: map[string]*mooncakeSession{}}
	grouped, err := rows.Group(d.Path, io.NewSectionReader(file, 0, math.MaxInt64), scan.line, nil)
	switch {
	case err != nil:
		return nil, 0, err
	case grouped.Len() == 0:
		return nil, 0, fmt.Errorf("%s: the file is empty", d.Path)
	case scan.timed:
		if err := scan.allTimed(); err != nil {
			return nil, 0, err
		}
	}
	scan.notices()
	trace := mooncakeTrace{d: &d, file: file, lines: grouped, starts: scan.starts, timed: scan.timed}
	if scan.blocks {
		if trace.scope, err = contents(file); err != nil {
			return nil, 0, fmt.Errorf("reading %s: %w", d.Path, err)
		}
		if trace.minter, err = dataset.NewMinter(&d.Options, d.Text); err != nil {
			return nil, 0, err
		}
	}
	order := byStart(scan.starts)
	order = order[:number(&d.Options, len(order))]
	return func(yield func(*dataset.Conversation, error) bool) {
		for _, i := range order {
			c, err := trace.session(int(i))
			if !yield(c, err) || err != nil {
				return
			}
		}
	}, len(order), nil
}

// A mooncakeScan is the first reading of a file.
type mooncakeScan struct {
	d      *Mooncake
	starts []start
	of     map[string]*mooncakeSession // those that have ids

	timed, blocks bool // some rows have timestamps, hash ids

	fromStart int // gaps that are from the start of a turn
	early     int // turns sent before the turn before them
	ignored   int // rows with fields that are not sent
	delayed   int // first turns with a delay
	delayedAt int // line of the first of them
}

// A mooncakeSession is what the scan knows of a session.
type mooncakeSession struct {
	kind mooncakeKind
	last time.Duration // when its last turn was sent
}

// line checks a line, and returns the key of its session.
func (s *mooncakeScan) line(l *rows.Line[mooncakeRow]) (string, error) {
	row := &l.Value
	kind, err := row.kind()
	if err == nil {
		err = row.check(kind, s.d.BlockSize)
	}
	if err != nil {
		return "", err
	}
	s.timed = s.timed || row.Timestamp != nil
	s.blocks = s.blocks || kind == lengths
	if rows.Present(row.Tools) || rows.Present(row.Extra) {
		s.ignored++
	}
	key := string(row.SessionID)
	if session := s.of[key]; session != nil {
		if session.kind != kind {
			return "", fmt.Errorf("session %s has another kind of prompt before: lengths, texts, messages and deltas do not "+
				"mix", key)
		}
		at, _ := row.times(session.last)
		if row.Delay == nil && row.Timestamp != nil {
			s.fromStart++
		}
		if at < session.last {
			s.early++
		}
		session.last = at
		return key, nil
	}
	first := start{line: l.Number, timed: row.Timestamp != nil}
	first.due, _ = row.times(0)
	s.starts = append(s.starts, first)
	if row.Delay != nil {
		if s.delayed++; s.delayed == 1 {
			s.delayedAt = l.Number
		}
	}
	if key != "" {
		s.of[key] = &mooncakeSession{kind, first.due}
	}
	return key, nil
}

// allTimed refuses a file with timestamps in which a session starts without one.
func (s *mooncakeScan) allTimed() error {
	for _, start := range s.starts {
		if !start.timed {
			return fmt.Errorf("%s:%d: a session starts without a timestamp in a file with timestamps", s.d.Path, start.line)
		}
	}
	return nil
}

func (s *mooncakeScan) notices() {
	o := &s.d.Options
	if s.fromStart > 0 {
		notice(o, "%s: it has no durations: %d gaps are from the start of a request to the next, so they contain the time "+
			"of the recorded server", o.Path, s.fromStart)
	}
	if s.early > 0 {
		notice(o, "%s: %d turns have an earlier timestamp than the turn before: they follow it without a gap", o.Path,
			s.early)
	}
	if s.delayed > 0 {
		notice(o, "%s:%d: a delay before the first turn of a session means nothing: ignored here and in %d other lines",
			o.Path, s.delayedAt, s.delayed-1)
	}
	if s.ignored > 0 {
		notice(o, `%s: %d lines have "tools" or "extra", which are not sent`, o.Path, s.ignored)
	}
}

// A mooncakeTrace is a file that the scan has accepted.
type mooncakeTrace struct {
	d      *Mooncake
	file   io.ReaderAt
	lines  *rows.Grouped[mooncakeRow]
	starts []start
	timed  bool
	scope  string // of hash ids
	minter *dataset.Minter
}

// session builds a session.
func (m *mooncakeTrace) session(number int) (*dataset.Conversation, error) {
	lines, err := m.lines.Lines(m.file, number)
	if err != nil {
		return nil, err
	}
	first := &m.starts[number]
	id := cmp.Or(string(lines[0].Value.SessionID), "row-"+strconv.Itoa(first.line))
	c := &dataset.Conversation{ID: m.d.IDPrefix + id, Turns: make([]dataset.Turn, len(lines))}
	made := prompts{seed: m.d.Seed, scope: m.scope, session: id, size: m.d.BlockSize}
	last := time.Duration(0)
	for i := range lines {
		row, turn := &lines[i].Value, &c.Turns[i]
		kind, err := row.kind()
		if err == nil {
			err = row.check(kind, m.d.BlockSize)
		}
		if err != nil {
			return nil, m.lines.Fault(m.file, lines[i], err)
		}
		at, gap := row.times(last)
		if last = at; row.Timestamp != nil {
			turn.At = new(seconds(at))
		}
		if i > 0 {
			turn.Gap = seconds(gap)
		}
		m.prompt(c, i, row, kind, &made)
	}
	if made.parts != nil {
		made.share(c.Turns)
		c.Mint = m.minter.Mint
	}
	if m.timed {
		c.Due = new(seconds(first.due))
	}
	return c, nil
}

// prompt sets the prompt of turn number i, and its history.
func (m *mooncakeTrace) prompt(c *dataset.Conversation, i int, row *mooncakeRow, kind mooncakeKind, made *prompts) {
	turn := &c.Turns[i]
	if row.OutputLength != nil {
		turn.OutputLen = *row.OutputLength
	}
	if i > 0 && (kind == lengths || kind == messages) {
		turn.Waits = []dataset.Wait{{Turn: i - 1, History: dataset.Nothing}}
	}
	switch {
	case kind == lengths:
		turn.PromptLen = *row.InputLength
		turn.Tail = made.add(row.HashIDs, turn.PromptLen, i-1)
	case kind == text && m.d.Text:
		turn.Messages = asked(*row.TextInput)
	case kind == text:
		turn.Prompt = *row.TextInput
	default:
		turn.Messages = row.Messages
	}
}
