package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Weka replays traces of agents in the form that WEKA has published: one JSON object a session, with
// its requests and sub-agents, whose requests are nested.
//
// A request waits for the one before it of the same agent, and the first of a sub-agent for the
// request before its spawn. A later request of an agent also waits for the sub-agents that had ended
// when it was recorded, unless they were launched asynchronously. Times of a sub-agent are relative
// to its spawn if the first is before it, otherwise they are the session's. Prompts are lengths and
// hash ids, which mean the same within a session, or in the whole file with the scope "global".
//
// The sessions have no common clock: they start in the order of the file, when the run has them
// start.
type Weka struct {
	dataset.Options      // Num 0 and less means all; with a Tokenizer or VocabSize
	Text            bool // prompts are sent as text, as chats need
}

// wekaBlock is the size of a block in files that do not say it.
const wekaBlock = 64

// Open reads the file. It returns the source and the number of its sessions.
func (d Weka) Open() (dataset.Source, int, error) {
	file, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	return d.read(file)
}

// read reads a file, which must stay open for the source.
func (d Weka) read(file io.ReaderAt) (dataset.Source, int, error) {
	scope, err := contents(file)
	if err != nil {
		return nil, 0, fmt.Errorf("reading %s: %w", d.Path, err)
	}
	minter, err := dataset.NewMinter(&d.Options, d.Text)
	if err != nil {
		return nil, 0, err
	}
	places, count, err := d.scan(file)
	if err != nil {
		return nil, 0, err
	}
	count.notices(&d.Options)
	places = places[:number(&d.Options, len(places))]
	return func(yield func(*dataset.Conversation, error) bool) {
		for i, after := range places {
			session, err := rows.At[wekaSession](file, after)
			var turns []dataset.Turn
			if err == nil {
				g := newWekaGraph(&session, d.Seed, scope, i)
				turns, err = g.build()
			}
			if err != nil {
				yield(nil, d.fault(file, after, err))
				return
			}
			if !yield(&dataset.Conversation{ID: d.IDPrefix + session.name(i), Turns: turns, Mint: minter.Mint}, nil) {
				return
			}
		}
	}, len(places), nil
}

// scan checks all sessions. It returns the offsets that they follow.
func (d Weka) scan(file io.ReaderAt) (places []int64, count wekaCount, err error) {
	within := rows.Bound(pyjson.Strict(io.NewSectionReader(file, 0, math.MaxInt64)))
	dec := json.NewDecoder(within)
	named := map[string]bool{}
	for {
		after := dec.InputOffset()
		var session wekaSession
		if err := dec.Decode(&session); err == io.EOF {
			break
		} else if err != nil {
			return nil, count, d.fault(file, after, err)
		}
		g := newWekaGraph(&session, d.Seed, "", len(places))
		if _, err := g.build(); err != nil {
			return nil, count, d.fault(file, after, err)
		}
		name := session.name(len(places))
		if named[name] {
			return nil, count, d.fault(file, after, fmt.Errorf("session %s is in the file before", name))
		}
		named[name] = true
		count.add(&g.count)
		places = append(places, after)
		within.Renew()
	}
	if len(places) == 0 {
		return nil, count, fmt.Errorf("%s: the file is empty", d.Path)
	}
	return places, count, nil
}

// fault adds the file and the line to an error about the session that follows an offset.
func (d Weka) fault(file io.ReaderAt, after int64, err error) error {
	wrong, ok := errors.AsType[*wekaError](err)
	if !ok {
		return rows.Array{Name: d.Path, File: io.NewSectionReader(file, 0, math.MaxInt64)}.Fault(after, err)
	}
	var before newlines
	_, unread := io.Copy(&before, io.NewSectionReader(file, 0, after))
	if unread != nil {
		return fmt.Errorf("%s: %w", d.Path, wrong.err)
	}
	var text bytes.Buffer // from after on, and beyond the request
	dec := json.NewDecoder(io.TeeReader(pyjson.Strict(io.NewSectionReader(file, after, math.MaxInt64-after)), &text))
	at := descend(dec, wrong.path)
	before.Write(text.Bytes()[:at])
	return fmt.Errorf("%s:%d: %w", d.Path, 1+int(before), wrong.err)
}

// newlines counts the newlines written to it.
type newlines int

func (n *newlines) Write(p []byte) (int, error) {
	*n += newlines(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// descend reads the beginning of the request at a path, or of the session, and returns how much it
// has read. Nothing in it can fail, since it was decoded before.
func descend(dec *json.Decoder, path []int) int64 {
	dec.Token()
	for _, number := range path {
		for dec.More() {
			key, _ := dec.Token()
			if text, _ := key.(string); strings.EqualFold(text, "requests") {
				break
			}
			dec.Decode(new(json.RawMessage))
		}
		dec.Token() // the list's
		for range number {
			dec.Decode(new(json.RawMessage))
		}
		dec.Token()
	}
	return dec.InputOffset()
}

// A wekaSession is one object of the file.
type wekaSession struct {
	ID        name          `json:"id"`
	BlockSize *int          `json:"block_size"`
	Scope     string        `json:"hash_id_scope"`
	Requests  []wekaRequest `json:"requests"`
}

// A wekaRequest is a request, or a sub-agent with requests.
type wekaRequest struct {
	T          *float64 `json:"t"` // s
	Type       string   `json:"type"`
	Model      string   `json:"model"`
	In         int      `json:"in"`
	Out        int      `json:"out"`
	HashIDs    hashIDs  `json:"hash_ids"`
	InputTypes []string `json:"input_types"`
	APITime    *float64 `json:"api_time"` // s

	AgentID  name          `json:"agent_id"`
	Status   string        `json:"status"`
	Requests []wekaRequest `json:"requests"`
}

// name is the session's name; number is its number in the file, from 0.
func (s *wekaSession) name(number int) string {
	return cmp.Or(string(s.ID), "session-"+strconv.Itoa(number+1))
}

// A wekaError is about the request at a path: its number in the session, then in its sub-agents.
type wekaError struct {
	path []int
	err  error
}

func (e *wekaError) Error() string { return e.err.Error() }

// A wekaCount is what people should know of a file.
type wekaCount struct {
	requests int
	untimed  int // without a duration
	early    int // recorded before what they wait for had ended
	silent   int // with an answer of no tokens
	models   map[string]bool
}

func (c *wekaCount) add(d *wekaCount) {
	c.requests += d.requests
	c.untimed += d.untimed
	c.early += d.early
	c.silent += d.silent
	if c.models == nil {
		c.models = map[string]bool{}
	}
	for model := range d.models {
		c.models[model] = true
	}
}

func (c *wekaCount) notices(o *dataset.Options) {
	if c.untimed > 0 {
		notice(o, "%s: %d of %d requests have no duration: gaps after them contain the time of the recorded server", o.Path,
			c.untimed, c.requests)
	}
	if c.early > 0 {
		notice(o, "%s: %d of %d requests were recorded before what they wait for had ended: they follow it without a gap",
			o.Path, c.early, c.requests)
	}
	if c.silent > 0 {
		notice(o, "%s: %d of %d requests have an answer of no tokens: they ask for one", o.Path, c.silent, c.requests)
	}
	if len(c.models) > 1 {
		notice(o, "%s: its requests are for %d models: all go to the one of the run", o.Path, len(c.models))
	}
}
