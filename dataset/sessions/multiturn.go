package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// MultiTurn reads AIPerf's multi_turn format: JSON lines of
// {"session_id": "…", "turns": [{"text": "…", "delay": 1000, "output_length": 20}, …]}. Lines with one
// session_id are one session. A leading turn of the system is part of the first prompt. A delay is
// milliseconds from the end of the answer before; a timestamp is milliseconds from the zero of all
// sessions. Sessions start in the order of the file, or of their first timestamps if all have one.
type MultiTurn struct {
	dataset.Options      // a Tokenizer, if there is one, counts; Num is a maximum, 0 and less: all
	Chat            bool // the endpoint takes messages
	Timed           bool // refuses a file in which only some sessions have a time
}

// A multiTurnLine is a line of the file: a session, or a part of one.
type multiTurnLine struct {
	Session string          `json:"session_id"`
	Turns   []multiTurnPart `json:"turns"`
}

// A multiTurnPart is a turn of a line.
type multiTurnPart struct {
	Role      string          `json:"role"`
	Text      *string         `json:"text"`
	Texts     []string        `json:"texts"`
	Delay     *float64        `json:"delay"`     // ms
	Timestamp *float64        `json:"timestamp"` // ms
	OutputLen *int            `json:"output_length"`
	Image     json.RawMessage `json:"image"`
	Images    json.RawMessage `json:"images"`
	Audio     json.RawMessage `json:"audio"`
	Audios    json.RawMessage `json:"audios"`
	Video     json.RawMessage `json:"video"`
	Videos    json.RawMessage `json:"videos"`
	Extra     json.RawMessage `json:"extra"`
}

// Open reads the file. It returns the source and the number of its sessions.
func (d MultiTurn) Open() (dataset.Source, int, error) {
	f, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	file, order, timed, err := d.index(f)
	if err != nil {
		return nil, 0, err
	}
	n := number(&d.Options, len(order))
	return fromFile(d.Path, n, func(f io.ReaderAt, i int) (*dataset.Conversation, error) {
		lines, err := file.Lines(f, int(order[i]))
		if err != nil {
			return nil, err
		}
		c := d.session(lines)
		if timed {
			c.Due = c.Turns[0].At
		}
		if c.ID == "" {
			c.ID = fmt.Sprint("session-", order[i]+1)
		}
		return c, nil
	}), n, nil
}

// index reads the file. It returns the order of its sessions, and whether all of them have times.
func (d MultiTurn) index(r io.Reader) (file *rows.Grouped[multiTurnLine], order []int32, timed bool, err error) {
	var starts []float64 // of sessions; NaN if unknown
	var turns []bool     // whether a session has a turn to send
	unsent := 0
	file, err = rows.Group(d.Path, r, func(l *rows.Line[multiTurnLine]) (string, error) {
		return l.Value.Session, nil
	}, func(session int, l *rows.Line[multiTurnLine]) error {
		if session == len(starts) {
			starts, turns = append(starts, math.NaN()), append(turns, false)
		}
		for i := range l.Value.Turns {
			part := &l.Value.Turns[i]
			if err := part.check(turns[session]); err != nil {
				return fmt.Errorf("turn %d: %w", i+1, err)
			}
			if rows.Present(part.Extra) {
				unsent++
			}
			if part.Role == "system" {
				continue
			}
			if !turns[session] && part.Timestamp != nil {
				starts[session] = *part.Timestamp
			}
			turns[session] = true
		}
		if len(l.Value.Turns) == 0 {
			return errors.New(`no "turns"`)
		}
		return nil
	})
	if err != nil {
		return nil, nil, false, err
	}
	if len(starts) == 0 {
		return nil, nil, false, fmt.Errorf("%s: the file is empty", d.Path)
	}
	if empty := slices.Index(turns, false); empty >= 0 {
		return nil, nil, false, fmt.Errorf("%s: session %d of %d has no turn to send", d.Path, empty+1, len(turns))
	}
	if unsent > 0 {
		notice(&d.Options, `%s: the "extra" of %s is not sent`, d.Path, count(unsent, "turn"))
	}
	order = make([]int32, len(starts))
	untimed := 0
	for i := range order {
		order[i] = int32(i)
		if math.IsNaN(starts[i]) {
			untimed++
		}
	}
	switch {
	case untimed == 0:
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(starts[a], starts[b]) })
	case untimed < len(starts) && d.Timed:
		return nil, nil, false, fmt.Errorf("%s: %d of %d sessions begin with a timestamp and the others do not: give all "+
			"of them one, or send them without their times", d.Path, len(starts)-untimed, len(starts))
	}
	return file, order, untimed == 0, nil
}

// check refuses a turn that cannot be sent. Begun says that the session has an earlier turn to send.
func (p *multiTurnPart) check(begun bool) error {
	for name, media := range map[string]json.RawMessage{
		"image": p.Image, "images": p.Images, "audio": p.Audio, "audios": p.Audios, "video": p.Video, "videos": p.Videos,
	} {
		if rows.Present(media) && string(media) != "[]" {
			return fmt.Errorf("%q: only texts are supported", name)
		}
	}
	switch {
	case p.Role != "" && p.Role != "user" && p.Role != "system":
		return fmt.Errorf(`the "role" is %q: must be user, or system before the first turn`, p.Role)
	case p.Role == "system" && begun:
		return errors.New(`the "role" is "system", and the session has begun`)
	case (p.Text == nil) == (p.Texts == nil):
		return errors.New(`needs "text" or "texts", and not both`)
	case p.Delay != nil && p.Timestamp != nil:
		return errors.New(`has a "delay" and a "timestamp"`)
	case p.Delay != nil && !milliseconds(*p.Delay):
		return fmt.Errorf(`the "delay" is %v ms: must not be negative`, *p.Delay)
	case p.Timestamp != nil && !milliseconds(*p.Timestamp):
		return fmt.Errorf(`the "timestamp" is %v ms: must not be negative`, *p.Timestamp)
	case p.OutputLen != nil && *p.OutputLen < 1:
		return fmt.Errorf(`the "output_length" is %d: must be at least 1`, *p.OutputLen)
	}
	return nil
}

// milliseconds reports whether a time is one that a run can have.
func milliseconds(ms float64) bool { return ms >= 0 && ms < 9e15 }

// text is the text of a checked turn.
func (p *multiTurnPart) text() string {
	if p.Text != nil {
		return *p.Text
	}
	return strings.Join(p.Texts, "\n")
}

// session makes the session of checked lines.
func (d MultiTurn) session(lines []rows.Line[multiTurnLine]) *dataset.Conversation {
	c := &dataset.Conversation{ID: lines[0].Value.Session}
	count := counter{o: &d.Options}
	var system []message
	for _, line := range lines {
		for i := range line.Value.Turns {
			part := &line.Value.Turns[i]
			text := part.text()
			count.text(text)
			if part.Role == "system" {
				system = append(system, message{"system", text})
				continue
			}
			var turn dataset.Turn
			messages := append(system, message{"user", text})
			if d.Chat {
				turn.Messages = written(messages...)
			} else {
				turn.Prompt = asText(len(c.Turns), messages...)
			}
			turn.PromptLen = count.prompt()
			if part.OutputLen != nil {
				turn.OutputLen = *part.OutputLen
			}
			count.answer(turn.OutputLen)
			switch {
			case part.Delay != nil:
				turn.Gap = *part.Delay / 1000
			case part.Timestamp != nil:
				turn.At = new(*part.Timestamp / 1000)
				if len(c.Turns) > 0 && c.Turns[len(c.Turns)-1].At != nil {
					turn.Gap = max(0, *turn.At-*c.Turns[len(c.Turns)-1].At)
				}
			}
			c.Turns, system = append(c.Turns, turn), nil
		}
	}
	return c
}
