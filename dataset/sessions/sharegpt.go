package sessions

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
)

// ShareGPT sends whole conversations of a ShareGPT file, where package dataset's ShareGPT sends
// their first questions: [{"id": "…", "conversations": [{"from": "human", "value": "…"}, …]}, …]. A turn is
// a question. It asks for as many tokens as the recorded answer has. The seed decides the order,
// and which conversations repeat.
//
// Conversations are cleaned as vLLM's converter does it. Ids such as X_0 and X_1 are parts of one
// conversation, in the order of the file; a part that begins with the role with which the part
// before it ended loses that message. Answers and system messages before the first question are
// left out. A conversation is left out if the roles do not alternate then.
type ShareGPT struct {
	dataset.Options         // with a Tokenizer
	Chat            bool    // the endpoint takes messages
	OutputLen       int     // tokens to ask for; 0: as many as the recorded answer has
	MinTurns        int     // fewer are left out; 0 is 1. The Rust client's is 2
	MaxTurns        int     // turns of a session at most; 0: all
	Delay           float64 // seconds from an answer to the next turn
	MaxModelLen     int     // cuts a session where it exceeds so many tokens; 0: never
}

// A shared is an element of the file.
type shared struct {
	ID            name `json:"id"`
	Conversations []struct {
		From  string  `json:"from"`
		Value *string `json:"value"`
	} `json:"conversations"`
}

// Open reads the file. It returns the source and the number of its sessions.
func (d ShareGPT) Open() (dataset.Source, int, error) {
	switch {
	case d.Tokenizer == nil:
		return nil, 0, errors.New("sharegpt: needs a tokenizer, to count the tokens of answers")
	case d.Num < 1:
		return nil, 0, fmt.Errorf("number of sessions %d: must be at least 1", d.Num)
	case d.OutputLen < 0:
		return nil, 0, fmt.Errorf("output length %d: must not be negative", d.OutputLen)
	case !(d.Delay >= 0):
		return nil, 0, fmt.Errorf("delay %v s: must not be negative", d.Delay)
	}
	f, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	all, err := d.index(f)
	if err != nil {
		return nil, 0, err
	}
	rng := nprand.NewPython(d.Seed)
	if !d.DisableShuffle {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	if d.MaxModelLen > 0 {
		all, err = d.fit(all)
	} else {
		all = all[:min(d.Num, len(all))]
	}
	if err != nil {
		return nil, 0, err
	}
	if len(all) == 0 {
		return nil, 0, fmt.Errorf("%s: none of its conversations has %d turns within %d tokens", d.Path, d.least(),
			d.MaxModelLen)
	}
	n := d.Num
	if d.NoOversample {
		n = len(all)
	}
	if n > len(all) {
		notice(&d.Options, "%s: %d conversations fit; some are sent again to make %d", d.Path, len(all), n)
	}
	have := len(all)
	all = slices.Grow(all, max(n-have, 0))
	for len(all) < n {
		all = append(all, all[rng.Intn(have)])
	}
	return d.source(all), n, nil
}

func (d *ShareGPT) least() int { return max(1, d.MinTurns) }

// source makes the conversations whose parts are at these places.
func (d ShareGPT) source(places [][]int64) dataset.Source {
	return fromFile(d.Path, len(places), func(file io.ReaderAt, i int) (*dataset.Conversation, error) {
		var j joined
		for _, after := range places[i] {
			part, err := rows.At[shared](file, after)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.Path, rows.Plain(err))
			}
			j.add(&part)
		}
		made := Conversations{Options: d.Options, Chat: d.Chat, MaxTurns: d.MaxTurns, OutputLen: d.OutputLen}
		c := made.session(d.IDPrefix+strconv.Itoa(i), j.messages)
		for k := range c.Turns {
			if k > 0 {
				c.Turns[k].Gap = d.Delay
			}
		}
		return within(c, d.MaxModelLen), nil
	})
}

// fit is the first Num places of conversations that have enough turns within MaxModelLen.
func (d ShareGPT) fit(places [][]int64) (kept [][]int64, err error) {
	i := 0
	for c, err := range d.source(places) {
		if err != nil {
			return nil, err
		}
		if len(c.Turns) >= d.least() {
			if kept = append(kept, places[i]); len(kept) == d.Num {
				break
			}
		}
		i++
	}
	return kept, nil
}

// partOf is the id of a part, and of what it is a part.
var partOf = regexp.MustCompile(`^(.+)_[0-9]+$`)

// index reads the file, and returns the places of the parts of each conversation that it keeps.
func (d ShareGPT) index(f io.ReadSeeker) ([][]int64, error) {
	array := rows.Array{Name: d.Path, File: f}
	type conversation struct {
		joined
		places []int64
	}
	var all []*conversation
	byID := map[string]*conversation{}
	n := 0
	for e, err := range rows.Elements[shared](array) {
		if err != nil {
			return nil, err
		}
		n++
		var of *conversation
		if id := partOf.FindStringSubmatch(string(e.Value.ID)); id != nil {
			of = byID[id[1]]
			if of == nil {
				of = new(conversation)
				byID[id[1]] = of
				all = append(all, of)
			}
		} else {
			of = new(conversation)
			all = append(all, of)
		}
		for i := range e.Value.Conversations {
			m := &e.Value.Conversations[i]
			if m.Value == nil {
				return nil, array.Fault(e.After, fmt.Errorf(`conversation %d: message %d has no "value"`, n, i+1))
			}
		}
		of.add(&e.Value)
		of.messages = nil // their roles were all that matters here
		of.places = append(of.places, e.After)
	}
	var kept [][]int64
	var wrong, short int
	for _, c := range all {
		switch {
		case c.wrong:
			wrong++
		case c.turns < d.least():
			short++
		default:
			kept = append(kept, c.places)
		}
	}
	if wrong+short > 0 {
		notice(&d.Options, "%s: of %d conversations, %d are left out because their roles do not alternate, and %d because "+
			"they have fewer than %s",
			d.Path, len(all), wrong, short, count(d.least(), "turn"))
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: it has no conversation of at least %s whose roles alternate", d.Path,
			count(d.least(), "turn"))
	}
	return kept, nil
}

// count is a number and what it counts.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// A joined is a conversation as its parts make it.
type joined struct {
	messages []message
	last     string // role of the last message
	turns    int    // questions
	wrong    bool   // the roles do not alternate
}

// add adds a part.
func (j *joined) add(part *shared) {
	for i, m := range part.Conversations {
		role := "other"
		switch m.From {
		case "human", "user":
			role = "user"
		case "gpt", "chatgpt", "bing", "bard", "assistant":
			role = "assistant"
		case "system":
			role = "system"
		}
		switch {
		case j.last == "" && (role == "system" || role == "assistant"), i == 0 && role == j.last:
			continue
		case role == j.last, role != "user" && role != "assistant":
			j.wrong = true
			return
		case role == "user":
			j.turns++
		}
		j.last = role
		j.messages = append(j.messages, message{role, *m.Value})
	}
}
