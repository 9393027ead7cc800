package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
)

// Sonnet makes prompts of the lines of a poem, as vLLM's sonnet dataset did: all begin with the
// same lines, followed by random lines.
type Sonnet struct {
	Options        // with a Tokenizer and a Template: prompts are counted as it renders them
	Bare      bool // prompts are sent without the template, for endpoints that apply one
	InputLen  int  // most tokens of a rendered prompt
	PrefixLen int  // tokens that all prompts begin with, roughly
	OutputLen int  // tokens to ask for
}

// sonnetTask begins each prompt.
const sonnetTask = "Pick as many lines as you can from these poem lines:\n"

// sonnetTries is how many prompts in a row may be too long. vLLM's client tries forever.
const sonnetTries = 1000

// Open reads the file. It returns the source and the number of its conversations.
func (d Sonnet) Open() (Source, int, error) {
	if d.Tokenizer == nil || d.Template == nil {
		return nil, 0, errors.New("sonnet: needs a tokenizer with a chat template, to measure prompts")
	}
	if err := d.CheckNum(); err != nil {
		return nil, 0, err
	}
	if d.OutputLen < 1 {
		return nil, 0, fmt.Errorf("output length %d: must be at least 1", d.OutputLen)
	}
	lines, err := readFile(d.Path, d.lines)
	if err != nil {
		return nil, 0, err
	}
	task := d.verse(sonnetTask)
	if task.err != nil {
		return nil, 0, task.err
	}
	if d.InputLen <= task.turn.PromptLen {
		return nil, 0, fmt.Errorf("'input_len' must be higher than the base prompt length (%d)", task.turn.PromptLen)
	}
	total := 0
	for _, line := range lines {
		total += d.Tokenizer.Count(line, true)
	}
	if total == 0 {
		return nil, 0, fmt.Errorf("%s: its lines have no tokens", d.Path)
	}
	average := float64(total) / float64(len(lines))
	linesIn := func(tokens int) int {
		return int(math.RoundToEven(float64(tokens-task.turn.PromptLen) / average))
	}
	prefix := min(max(linesIn(d.PrefixLen), 0), len(lines))
	poem := poem{d, lines, prefix, max(linesIn(d.InputLen), 1) - max(linesIn(d.PrefixLen), 0)}
	return poem.source, d.Num, nil
}

// lines reads the lines with their ends.
func (d Sonnet) lines(r io.Reader) ([]string, error) {
	var lines []string
	for in := bufio.NewReader(r); ; {
		line, err := rows.ReadLine(in)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, len(lines)+1, err)
		}
		if len(line) > 0 {
			lines = append(lines, strings.ReplaceAll(string(line), "\r\n", "\n"))
		}
		if err == io.EOF {
			return lines, nil
		}
	}
}

// A verse is a prompt that may be too long.
type verse struct {
	turn Turn
	err  error
}

func (d Sonnet) verse(text string) verse {
	rendered, err := d.Template(text)
	if err != nil {
		return verse{err: fmt.Errorf("chat template: %w", err)}
	}
	turn := Turn{Prompt: rendered, PromptLen: d.Tokenizer.Count(rendered, true), OutputLen: d.OutputLen}
	if d.Bare {
		turn.Prompt = text
	}
	return verse{turn: turn}
}

// A poem is a checked Sonnet.
type poem struct {
	Sonnet
	lines  []string
	prefix int // lines that all prompts begin with
	drawn  int // lines that follow; none if negative
}

// source yields the prompts that are not too long.
func (p poem) source(yield func(*Conversation, error) bool) {
	i, misses := 0, 0
	for v := range ordered(p.texts(), ahead, p.verse) {
		switch {
		case v.err != nil:
			yield(nil, v.err)
			return
		case v.turn.PromptLen <= p.InputLen:
			c := p.Conversation(i, v.turn)
			if i, misses = i+1, 0; !yield(c, nil) || i == p.Num {
				return
			}
		default:
			if misses++; misses == sonnetTries {
				yield(nil, fmt.Errorf("%s: of %d prompts in a row, none has at most %d tokens", p.Path, misses, p.InputLen))
				return
			}
		}
	}
}

// texts draws prompts without end.
func (p poem) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		rng := nprand.NewPython(p.Seed)
		begin := sonnetTask + strings.Join(p.lines[:p.prefix], "")
		for {
			var text strings.Builder
			text.WriteString(begin)
			for _, k := range rng.Choices(len(p.lines), max(p.drawn, 0)) {
				text.WriteString(p.lines[k])
			}
			if !yield(text.String()) {
				return
			}
		}
	}
}
