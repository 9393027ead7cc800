// Package replay has files whose lines are requests, and sends them again: what servebench dataset
// printed, and record streams of runs that kept their prompts.
package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// File sends what WriteLine wrote, in its order and at its times, if it has any. Conversations that
// stand behind a later one are sent in the order of their times. It also reads the record stream of
// a run that kept its prompts, and sends what that run sent: the sessions in the order in which they
// were due.
//
// It reads the file when it is opened, to check each line, and again as conversations are pulled, so
// the file may be larger than the memory. Lines of a session need not be adjacent; it then holds
// where they are.
type File struct {
	// Num is a maximum, 0 and less mean all. A Tokenizer or VocabSize makes prompts of blocks.
	dataset.Options

	Text bool // for a chat: prompts of blocks are sent as text; needs a Tokenizer

	// IgnoreEOS says that answers will have their full length. Without it, there is a notice if the
	// recorded run asked for that.
	IgnoreEOS bool
}

// Open reads the file. It returns the source and the number of its conversations.
func (d File) Open() (dataset.Source, int, error) {
	if stat, err := os.Stat(d.Path); err != nil {
		return nil, 0, err
	} else if !stat.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: is read twice, so it must be a regular file", d.Path)
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	s := lineScan{name: d.Path, chat: d.Text}
	if err := s.read(f); err != nil {
		return nil, 0, err
	}
	n := s.lines
	var sessions *sessionIndex
	if s.grouped {
		s = lineScan{name: d.Path, chat: d.Text}
		if sessions, err = d.group(f, &s); err != nil {
			return nil, 0, err
		}
		n = len(sessions.order)
	}
	if err := s.found(); err != nil {
		return nil, 0, err
	}
	if s.late > 0 && s.run == "" {
		d.Notice("%s: %d conversations stand behind a later one: all are sent in the order of their times", d.Path, s.late)
	}
	if s.ignoreEOS && !d.IgnoreEOS {
		d.Notice("%s: the recorded run had --ignore-eos and this one has not: answers may be shorter", d.Path)
	}
	if d.Num > 0 {
		n = min(n, d.Num)
	}
	mint, err := d.mint(s.blocks)
	switch {
	case err != nil:
		return nil, 0, err
	case sessions == nil:
		return d.single(n, mint), n, nil
	}
	return d.several(sessions, n, mint), n, nil
}

// mint makes prompts of blocks, if the file has any.
func (d File) mint(blocks bool) (func(*dataset.Turn) error, error) {
	if !blocks {
		return nil, nil
	}
	m, err := dataset.NewMinter(&d.Options, d.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	return m.Mint, nil
}

// single reads a file whose lines are conversations of one turn.
func (d File) single(n int, mint func(*dataset.Turn) error) dataset.Source {
	return d.opened(func(f io.ReaderAt, yield func(*dataset.Conversation, error) bool) {
		left := n
		for l, err := range rows.Lines[promptLine](d.Path, io.NewSectionReader(f, 0, maxOffset)) {
			if err != nil {
				yield(nil, err)
				return
			}
			c, err := conversation([]rows.Line[promptLine]{l})
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", d.Path, l.Number, err))
				return
			}
			if c.Turns[0].Blocks != nil || c.Turns[0].Tail.Tokens > 0 {
				c.Mint = mint
			}
			if left--; !yield(c, nil) || left == 0 {
				return
			}
		}
	})
}

const maxOffset = 1<<63 - 1

// opened is a Source that opens the file for each iteration.
func (d File) opened(read func(f io.ReaderAt, yield func(*dataset.Conversation, error) bool)) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		f, err := os.Open(d.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		read(f, yield)
	}
}

// A lineScan is the first reading of a file: it checks the lines one by one.
type lineScan struct {
	name    string
	lines   int
	chat    bool    // the endpoint takes messages
	stream  bool    // it is the stream of a run
	grouped bool    // some lines are parts of sessions, or of a recorded run
	blocks  bool    // some prompts are blocks
	begun   bool    // some line begins a conversation
	timed   bool    // the conversations have times
	latest  float64 // of the times
	late    int     // conversations that stand behind a later one
	run     string  // the recorded run and its target; empty without one

	ignoreEOS bool // the recorded run asked for answers of full length
}

// read reads the lines, at most up to the first that needs an index.
func (s *lineScan) read(r io.Reader) error {
	for l, err := range rows.Lines[promptLine](s.name, r) {
		if err != nil {
			return err
		}
		if err := s.line(&l.Value); err != nil {
			return fmt.Errorf("%s:%d: %w", s.name, l.Number, err)
		}
		if s.grouped {
			break
		}
	}
	return nil
}

// found refuses a file without anything to send.
func (s *lineScan) found() error {
	switch {
	case s.lines == 0 && s.stream:
		return fmt.Errorf("%s: the recorded run has no requests", s.name)
	case s.lines == 0:
		return fmt.Errorf("%s: the file is empty", s.name)
	}
	return nil
}

func (s *lineScan) line(l *promptLine) error {
	if l.Kind != "" {
		s.stream, s.ignoreEOS = true, s.ignoreEOS || l.Config.IgnoreEOS
		if run := strings.TrimSpace(l.Run + " " + l.Target); l.Kind == recordKind && s.run != "" && s.run != run {
			return fmt.Errorf("requests of more than one run or target (%s and %s): only one can be sent again", s.run, run)
		} else if l.Kind == recordKind {
			s.run = run
		}
		if l.skipped() {
			return nil
		}
		s.grouped = true
	}
	if err := l.check(); err != nil {
		return err
	}
	due := l.due()
	timed := due != nil
	if l = l.asked(); l.Session == "" || l.Turn == 0 {
		if s.begun && s.timed != timed {
			return errors.New(`some lines have a time "due" and some have none`)
		}
		if s.begun, s.timed = true, timed; timed {
			s.place(*due)
		}
	}
	if s.chat && l.goesOn() {
		return errors.New("the prompt is a text that goes on after an answer, and a chat takes messages: print the " +
			"dataset with --backend openai-chat --endpoint /v1/chat/completions")
	}
	s.grouped = s.grouped || l.Session != ""
	s.blocks = s.blocks || len(l.Blocks) > 0 || l.Tail != nil
	s.lines++
	return nil
}

// place notes when a conversation is due. One behind a later one needs an index to be sent in time.
func (s *lineScan) place(due float64) {
	if s.latest = max(s.latest, due); due < s.latest {
		s.late++
		s.grouped = true
	}
}

// A sessionIndex is where the sessions of a file are.
type sessionIndex struct {
	*rows.Grouped[promptLine]
	order []int32 // in which they are sent
}

// group checks the lines, and finds the lines of each session.
func (d File) group(f io.ReaderAt, s *lineScan) (*sessionIndex, error) {
	var dues []float64   // of sessions
	var turns []int32    // how many turns they have
	var doubtful []int32 // sessions whose turns are not in order
	var first []bool     // whether the first turn has been there
	grouped, err := rows.Group(d.Path, io.NewSectionReader(f, 0, maxOffset),
		func(l *rows.Line[promptLine]) (string, error) {
			return l.Value.key(), nil
		}, func(session int, l *rows.Line[promptLine]) error {
			if err := s.line(&l.Value); err != nil {
				return err
			}
			if session == len(dues) {
				dues, turns, first = append(dues, 0), append(turns, 0), append(first, false)
			}
			if l.Value.skipped() {
				return nil
			}
			due, asked := l.Value.due(), l.Value.asked()
			if asked.Turn != int(turns[session]) && (len(doubtful) == 0 || doubtful[len(doubtful)-1] != int32(session)) {
				doubtful = append(doubtful, int32(session))
			}
			turns[session]++
			if asked.Turn == 0 || asked.Session == "" {
				if first[session] = true; due != nil {
					dues[session] = *due
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	index := &sessionIndex{Grouped: grouped}
	for i := range dues {
		switch {
		case turns[i] == 0: // lines of a stream that are no requests
		case !first[i] && s.run == "":
			lines, err := grouped.Lines(f, i)
			if err == nil {
				err = grouped.Fault(f, lines[0], errors.New("the session has no turn 0"))
			}
			return nil, err
		case first[i]:
			index.order = append(index.order, int32(i))
		}
	}
	if s.timed {
		slices.SortStableFunc(index.order, func(a, b int32) int { return cmp.Compare(dues[a], dues[b]) })
	}
	for _, i := range doubtful {
		if !first[i] {
			continue
		}
		if _, err := index.session(f, int(i)); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// several reads the sessions of an index.
func (d File) several(index *sessionIndex, n int, mint func(*dataset.Turn) error) dataset.Source {
	return d.opened(func(f io.ReaderAt, yield func(*dataset.Conversation, error) bool) {
		dataset.Numbered(n, func(i int) (*dataset.Conversation, error) {
			c, err := index.session(f, int(index.order[i]))
			if err == nil && mint != nil && slices.ContainsFunc(c.Turns,
				func(t dataset.Turn) bool { return t.Blocks != nil || t.Tail.Tokens > 0 }) {
				c.Mint = mint
			}
			return c, err
		})(yield)
	})
}

// session reads session number i.
func (s *sessionIndex) session(f io.ReaderAt, i int) (*dataset.Conversation, error) {
	lines, err := s.Lines(f, i)
	if err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, func(l rows.Line[promptLine]) bool { return l.Value.skipped() })
	slices.SortStableFunc(lines, func(a, b rows.Line[promptLine]) int {
		return cmp.Compare(a.Value.asked().Turn, b.Value.asked().Turn)
	})
	c, err := conversation(lines)
	if at, ok := errors.AsType[*lineFault](err); ok {
		return nil, s.Fault(f, lines[at.line], at.error)
	}
	return c, err
}
