package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// A promptLine is one turn as a line of JSON. A conversation of one turn has only the fields up to Due,
// unless its prompt is blocks. A recorded run has such a line in the "asked" of each of its requests.
type promptLine struct {
	ID        string          `json:"id"`
	Prompt    string          `json:"prompt"`
	PromptLen int             `json:"prompt_len"`
	OutputLen int             `json:"output_len"`
	TokenIDs  []int           `json:"token_ids,omitempty"`
	Messages  json.RawMessage `json:"messages,omitempty"`
	Due       *float64        `json:"due,omitempty"`
	Adapter   string          `json:"adapter,omitempty"`

	payloadFields
	turnFields
	recordFields
}

// turnFields are the place of a turn in its session, and what a recording knows.
type turnFields struct {
	Session string          `json:"session,omitempty"`
	Turn    int             `json:"turn,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Waits   *[]lineWait     `json:"waits,omitempty"` // nil: the turn before, with its history
	Gap     float64         `json:"gap,omitempty"`
	Tool    bool            `json:"tool,omitempty"`
	At      *float64        `json:"at,omitempty"`
	Took    float64         `json:"took,omitempty"`
	Begins  *lineWait       `json:"begins,omitempty"` // whose first blocks come first, how many
	Blocks  []lineBlock     `json:"blocks,omitempty"`
	Tail    *lineBlock      `json:"tail,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// recordFields are what is read of a line of a record stream.
type recordFields struct {
	Kind   string        `json:"k,omitempty"`
	Run    string        `json:"run,omitempty"`
	Target string        `json:"target,omitempty"`
	Phase  string        `json:"phase,omitempty"`
	Index  int           `json:"i,omitempty"`
	Sent   time.Duration `json:"sent,omitempty"`
	Lag    time.Duration `json:"lag,omitempty"`
	Queue  time.Duration `json:"queue,omitempty"`
	End    time.Duration `json:"end,omitempty"` // after Sent
	Parts  int           `json:"of,omitempty"`
	Asked  *promptLine   `json:"asked,omitempty"`
	Config struct {
		IgnoreEOS bool `json:"ignore_eos"`
	} `json:"config,omitzero"`
	Step struct {
		Early bool `json:"early"` // its session began in the warm-up
	} `json:"step,omitzero"`
}

// A lineWait is two numbers: a turn, and a History or a number of blocks.
type lineWait [2]int

// A lineBlock is a block as the text ID:Tokens, the ID in hexadecimal digits, because many programs
// cannot read a number of 64 bits.
type lineBlock dataset.Block

// MarshalText writes the block.
func (b lineBlock) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%x:%d", b.ID, b.Tokens), nil
}

// UnmarshalText reads a block.
func (b *lineBlock) UnmarshalText(text []byte) error {
	id, tokens, _ := strings.Cut(string(text), ":")
	n, err := strconv.ParseInt(tokens, 10, 32)
	if b.ID, b.Tokens = 0, int32(n); err == nil {
		b.ID, err = strconv.ParseUint(id, 16, 64)
	}
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a block, such as 9f:512", text)
	}
	return nil
}

// WriteLine writes a conversation as JSON, one line for each turn: its prompt, its lengths, and when
// the conversation is due, in seconds from the start of the run. Lines of several turns have what
// each adds, and when and after what it is sent.
func WriteLine(w io.Writer, c *dataset.Conversation, due float64) error {
	if len(c.Turns) > 1 && c.ID == "" {
		return errors.New("a session of several turns needs an id to be written")
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range c.Turns {
		l := lineOf(c, i)
		if i == 0 {
			l.Due = &due
		}
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// AskedLine is the line of turn number i of c, whose whole prompt is whole. It is complete: it has no
// history.
func AskedLine(c *dataset.Conversation, i int, whole *dataset.Turn) (json.RawMessage, error) {
	turns := slices.Clone(c.Turns[:i+1])
	turns[i].Prompt, turns[i].TokenIDs, turns[i].Messages = whole.Prompt, whole.TokenIDs, whole.Messages
	turns[i].Blocks, turns[i].Tail, turns[i].Payload = nil, dataset.Block{}, whole.Payload
	turns[i].Waits = []dataset.Wait{}
	for _, wait := range c.WaitsOf(i) {
		turns[i].Waits = append(turns[i].Waits, dataset.Wait{Turn: wait.Turn, History: dataset.Nothing})
	}
	l := lineOf(&dataset.Conversation{ID: c.ID, Adapter: c.Adapter, Turns: turns}, i)
	if len(c.Turns) > 1 {
		l.Session = c.ID
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	return json.RawMessage(strings.TrimSuffix(text.String(), "\n")), err
}

// lineOf is the line of turn number i.
func lineOf(c *dataset.Conversation, i int) *promptLine {
	t := &c.Turns[i]
	l := &promptLine{ID: c.ID, Adapter: c.Adapter, Prompt: t.Prompt, PromptLen: t.PromptLen, OutputLen: t.OutputLen,
		TokenIDs: t.TokenIDs, Messages: t.Messages}
	l.payloadFields = payloadOf(t.Payload)
	l.turnFields = turnFields{Turn: i, Agent: t.Agent, Gap: t.Gap, Tool: t.Tool, At: t.At, Took: t.Took, Answer: t.Answer}
	if len(c.Turns) > 1 {
		l.Session = c.ID
	}
	if t.Waits != nil {
		waits := make([]lineWait, len(t.Waits))
		for k, wait := range t.Waits {
			waits[k] = lineWait{wait.Turn, int(wait.History)}
		}
		if l.Waits = &waits; i == 0 && len(waits) == 0 {
			l.Waits = nil
		}
	}
	blocks := t.Blocks
	if before, n := longestBeginning(c, i); n > 0 {
		l.Begins, blocks = &lineWait{before, n}, blocks[n:]
	}
	for _, b := range blocks {
		l.Blocks = append(l.Blocks, lineBlock(b))
	}
	if t.Tail.Tokens > 0 {
		l.Tail = new(lineBlock(t.Tail))
	}
	return l
}

// longestBeginning is the turn that turn number i waits for and shares the most blocks with, and how
// many.
func longestBeginning(c *dataset.Conversation, i int) (turn, blocks int) {
	own := c.Turns[i].Blocks
	for _, wait := range c.WaitsOf(i) {
		other := c.Turns[wait.Turn].Blocks
		n := 0
		for n < min(len(own), len(other)) && own[n] == other[n] {
			n++
		}
		if n > blocks {
			turn, blocks = wait.Turn, n
		}
	}
	return turn, blocks
}

// recordKind is the kind of a request in a record stream.
const recordKind = "req"

// skipped reports whether a line of a record stream is not a request of the load.
func (l *promptLine) skipped() bool {
	return l.Kind != "" && (l.Kind != recordKind || l.Phase == "warm-up" || l.Step.Early)
}

// asked is the line, or the one in a line of a record stream.
func (l *promptLine) asked() *promptLine {
	if l.Asked != nil {
		return l.Asked
	}
	return l
}

// key tells sessions apart. It is empty if the line is one by itself.
func (l *promptLine) key() string {
	if l.Kind == recordKind {
		return strconv.Itoa(l.Index)
	}
	return l.Session
}

// due is when the line says that the conversation is due. In a record stream times count from
// sending.
func (l *promptLine) due() *float64 {
	if l.Kind == "" {
		return l.Due
	}
	due := l.Sent - l.Lag - max(l.Queue, 0)
	return new(due.Seconds())
}

// check refuses what cannot be sent.
func (l *promptLine) check() error {
	if l.Kind != "" && l.Asked == nil {
		if l.Parts > 1 {
			return errors.New("the run was recorded through a pipe, with requests in several lines: record it to a file")
		}
		return errors.New("the run was recorded without its prompts: record it with --record prompts")
	}
	if l = l.asked(); l.Session == "" && l.Turn != 0 {
		return errors.New(`a "turn" without a "session"`)
	}
	prompt := l.Prompt != "" || len(l.TokenIDs) > 0 || rows.Present(l.Messages) || len(l.Blocks) > 0 || l.Tail != nil ||
		l.Begins != nil || l.prompts()
	switch {
	case !prompt:
		return errors.New(`no "prompt", "token_ids" or "messages"`)
	case l.PromptLen < 0:
		return fmt.Errorf(`"prompt_len" is %d: must not be negative`, l.PromptLen)
	case l.OutputLen < -1 || l.OutputLen < 1 && l.Session == "" && !l.prompts():
		return fmt.Errorf(`"output_len" is %d: must be at least 1`, l.OutputLen)
	case l.Turn < 0 || l.Turn > math.MaxInt32:
		return fmt.Errorf(`"turn" is %d: must be at least 0 and below 2³¹`, l.Turn)
	case l.Turn > 0 && l.Due != nil:
		return errors.New(`only turn 0 of a session has a time "due": others have "gap" or "at"`)
	}
	for _, time := range []struct {
		name  string
		value *float64
	}{{"due", l.Due}, {"gap", &l.Gap}, {"at", l.At}, {"took", &l.Took}} {
		if v := time.value; v != nil && !(*v >= 0 && *v < dataset.MaxDue) {
			return fmt.Errorf("%q is %v: must be at least 0 and below %v seconds", time.name, *v, float64(dataset.MaxDue))
		}
	}
	if l.Waits != nil {
		whole, seen := 0, make(map[int]bool, len(*l.Waits))
		for _, wait := range *l.Waits {
			if wait[0] < 0 || wait[0] >= l.Turn || wait[1] < int(dataset.Nothing) || wait[1] > int(dataset.AnswerOnly) {
				return fmt.Errorf(`"waits" has %v: must be an earlier turn, and 0, 1 or 2`, wait)
			}
			if seen[wait[0]] {
				return fmt.Errorf(`"waits" has turn %d twice`, wait[0])
			}
			if seen[wait[0]] = true; dataset.History(wait[1]) == dataset.Everything {
				whole++
			}
		}
		if whole > 1 {
			return fmt.Errorf(`"waits" has %d turns with their whole history: at most one may have it`, whole)
		}
	}
	if err := l.checkPayload(); err != nil {
		return err
	}
	if b := l.Begins; b != nil && (b[0] < 0 || b[0] >= l.Turn || b[1] < 1) {
		return fmt.Errorf(`"begins" is %v: must be an earlier turn, and a number of its blocks`, *b)
	}
	return nil
}

// goesOn reports whether the prompt is a text that has answers before it.
func (l *promptLine) goesOn() bool {
	if l.Prompt == "" || rows.Present(l.Messages) {
		return false
	}
	if l.Waits == nil {
		return l.Turn > 0
	}
	return slices.ContainsFunc(*l.Waits, func(w lineWait) bool { return w[1] != int(dataset.Nothing) })
}

// A lineFault is an error about one of the lines of a session.
type lineFault struct {
	error
	line int
}

// conversation is the conversation of checked lines, in the order of their turns. Turns may be
// missing, because a recorded session may have broken off; others must not wait for them.
func conversation(lines []rows.Line[promptLine]) (*dataset.Conversation, error) {
	first := lines[0].Value.asked()
	c := &dataset.Conversation{ID: first.ID, Adapter: first.Adapter, Due: lines[0].Value.due()}
	if first.Session != "" {
		c.ID = first.Session
	}
	s := reader{turns: make([]dataset.Turn, 0, len(lines)), at: make(map[int]int, len(lines)),
		extended: make([]bool, len(lines))}
	for i := range lines {
		l := &lines[i].Value
		if err := s.add(l.asked()); err != nil {
			return nil, &lineFault{err, i}
		}
		if l.Kind != "" {
			s.turns[i].At, s.turns[i].Took = l.due(), l.End.Seconds()
		}
	}
	c.Turns = s.turns
	return c, nil
}

// A reader makes the turns of a session.
type reader struct {
	turns    []dataset.Turn
	at       map[int]int // positions in turns, by number
	extended []bool      // whether another turn goes on in the array of this turn's blocks
}

// add adds the turn of a line.
func (s *reader) add(l *promptLine) error {
	if _, twice := s.at[l.Turn]; twice {
		return fmt.Errorf("turn %d of session %q is there twice", l.Turn, l.Session)
	}
	t := dataset.Turn{
		Prompt: l.Prompt, TokenIDs: l.TokenIDs, PromptLen: l.PromptLen, OutputLen: l.OutputLen,
		Gap: l.Gap, At: l.At, Took: l.Took, Agent: l.Agent, Tool: l.Tool,
	}
	if rows.Present(l.Messages) {
		t.Messages = l.Messages
	}
	t.Payload = l.payload()
	if rows.Present(l.Answer) {
		t.Answer = l.Answer
	}
	if l.Tail != nil {
		t.Tail = dataset.Block(*l.Tail)
	}
	var err error
	if t.Waits, err = s.waits(l); err != nil {
		return err
	}
	if t.Blocks, err = s.blocks(l); err != nil {
		return err
	}
	s.at[l.Turn] = len(s.turns)
	s.turns = append(s.turns, t)
	return nil
}

// position is where in turns the turn of that number is.
func (s *reader) position(number int, l *promptLine) (int, error) {
	position, ok := s.at[number]
	if !ok {
		return 0, fmt.Errorf("turn %d of session %q needs turn %d, which is not there", l.Turn, l.Session, number)
	}
	return position, nil
}

func (s *reader) waits(l *promptLine) ([]dataset.Wait, error) {
	if l.Waits == nil {
		if l.Turn == 0 {
			return nil, nil
		}
		position, err := s.position(l.Turn-1, l)
		if position == len(s.turns)-1 {
			return nil, err
		}
		return []dataset.Wait{{Turn: position, History: dataset.Everything}}, err
	}
	waits := make([]dataset.Wait, len(*l.Waits))
	for i, wait := range *l.Waits {
		position, err := s.position(wait[0], l)
		if err != nil {
			return nil, err
		}
		waits[i] = dataset.Wait{Turn: position, History: dataset.History(wait[1])}
	}
	return waits, nil
}

// blocks are the blocks of a line. Turns whose blocks begin alike share an array, so that a session
// costs about its longest prompt, not the sum.
func (s *reader) blocks(l *promptLine) (list []dataset.Block, err error) {
	if l.Begins != nil {
		position, err := s.position(l.Begins[0], l)
		if err != nil {
			return nil, err
		}
		list = s.turns[position].Blocks
		n := l.Begins[1]
		if n > len(list) {
			return nil, fmt.Errorf(`"begins" is %v: turn %d has %d blocks`, *l.Begins, l.Begins[0], len(list))
		}
		if n < len(list) || s.extended[position] {
			list = list[:n:n]
		}
		s.extended[position] = true
	}
	for _, b := range l.Blocks {
		list = append(list, dataset.Block(b))
	}
	return list, nil
}
