package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// Names of the files in a sweep's folder.
const (
	journalName = "journal.jsonl"
	RecordsName = "records.jsonl" // the record stream of all runs
)

// journalVersion is the version of the journal that is written and read here.
const journalVersion = 2

// A journal is what a sweep has done so far, in its folder. A run counts once its line is in the
// journal. The record stream has only runs that count. Only one goroutine may use a journal.
type journal struct {
	records *os.File // takes the record stream of the run in progress at its end
	keeper  *hold.Keeper
	file    *os.File
	history *history // with failures only of this session
	size    int64    // of records up to the last run that counts
}

// An entry is one run in the journal.
type entry struct {
	Cell    string   `json:"cell"`
	Run     string   `json:"run,omitempty"`   // its id in the record stream
	Start   string   `json:"start,omitempty"` // of the servers that the sweep started for it
	Seconds float64  `json:"seconds"`         // including what preceded its load
	Notes   []string `json:"notes,omitempty"`
	Failed  string   `json:"failed,omitempty"`  // why there are no numbers; it will be done again
	Value   *float64 `json:"value,omitempty"`   // of the search
	Passed  bool     `json:"passed,omitempty"`  // as a probe
	Doubted bool     `json:"doubted,omitempty"` // as a probe: failed, without proof against the server
	Broke   string   `json:"broke,omitempty"`   // why it did not pass

	// Disturbed is how the client was disturbed, in a sequential sweep.
	Disturbed string `json:"disturbed,omitempty"`

	Size int64 `json:"size"` // of the record stream after this run
}

// A head is the first line of a journal.
type head struct {
	Version int    `json:"v"`
	Plan    string `json:"plan"`
	Origin  string `json:"file,omitempty"`
}

// headOf is the first line of a plan's journal.
func headOf(p *Plan) head { return head{journalVersion, p.digest(), p.Origin} }

// same reports that a journal with the head h is of the plan with the head own. Equal files of two
// folders may name different scripts.
func (h head) same(own head) bool {
	return h.Version == own.Version && h.Plan == own.Plan && (h.Origin == own.Origin || h.Origin == "" || own.Origin == "")
}

// ErrOther says that the folder of a sweep has the runs of another experiment.
var ErrOther = errors.New("it belongs to another experiment, to this one with another FILE or other flags, or to an " +
	"older servebench: choose another folder with -o, or delete it")

// openJournal opens the journal of a plan in a folder, or begins one. It closes keeper
// with the journal.
func openJournal(dir string, p *Plan, keeper *hold.Keeper) (*journal, error) {
	j := &journal{keeper: keeper, history: newHistory(p)}
	if err := j.open(dir, headOf(p)); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

func (j *journal) open(dir string, own head) (err error) {
	const flags = os.O_CREATE | os.O_RDWR | os.O_APPEND
	if j.file, err = os.OpenFile(filepath.Join(dir, journalName), flags, 0o666); err != nil {
		return err
	}
	if j.records, err = os.OpenFile(filepath.Join(dir, RecordsName), flags, 0o666); err != nil {
		return err
	}
	if err := j.read(own); err != nil {
		return fmt.Errorf("%s: %w", j.file.Name(), err)
	}
	return j.rollback()
}

// read reads the journal and cuts off a last line that is torn. It changes no file of
// another experiment.
func (j *journal) read(own head) error {
	text, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	records, err := j.records.Stat()
	if err != nil {
		return err
	}
	entries, err := parsed(text, own, records.Size())
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if err := j.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if whole == 0 {
		return j.write(own)
	}
	for _, e := range entries {
		j.history.add(e)
		j.size = e.Size
	}
	return nil
}

// parsed are the runs that count in the text of a journal, next to a record stream of that size. A
// last line that is torn is left out.
func parsed(text []byte, own head, records int64) (entries []entry, err error) {
	line, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	switch {
	case whole == 0 && (!bytes.HasPrefix(line, text) || records > 0):
		return nil, ErrOther
	case whole == 0:
		return nil, nil
	}
	lines := bytes.Split(text[:whole-1], []byte("\n"))
	var first head
	if json.Unmarshal(lines[0], &first) != nil || !first.same(own) {
		return nil, ErrOther
	}
	for i, line := range lines[1:] {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		if e.Failed == "" { // else its cell is tried again
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// openHistory reads the runs of a plan that a folder has already. It changes nothing there.
func openHistory(dir string, p *Plan) (*history, error) {
	name := filepath.Join(dir, journalName)
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	size := int64(0)
	if info, err := os.Stat(filepath.Join(dir, RecordsName)); err == nil {
		size = info.Size()
	}
	entries, err := parsed(text, headOf(p), size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return newHistory(p, entries...), nil
}

// Finished returns how many bytes of the record stream in a sweep's folder have finished runs; -1 if
// the folder has no journal. What follows is of a run in progress, or of one that was killed.
func Finished(dir string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, journalName))
	if err != nil {
		return -1
	}
	size := int64(0)
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) == nil { // the last line may be torn
			size = max(size, e.Size)
		}
	}
	return size
}

// add records a run. If the run failed, its records are removed.
func (j *journal) add(e entry) error {
	if e.Failed != "" {
		if err := j.rollback(); err != nil {
			return err
		}
	} else {
		// The records must be on disk before the line that refers to them.
		if err := j.records.Sync(); err != nil {
			return err
		}
		info, err := j.records.Stat()
		if err != nil {
			return err
		}
		j.size = info.Size()
	}
	e.Size = j.size
	if err := j.write(e); err != nil {
		return err
	}
	j.history.add(e)
	return nil
}

func (j *journal) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// rollback removes the records of a run that does not count.
func (j *journal) rollback() error {
	info, err := j.records.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() < j.size:
		return fmt.Errorf("%s has been shortened: %d bytes of the %d that the journal knows of", j.records.Name(),
			info.Size(), j.size)
	case info.Size() == j.size:
		return nil
	}
	return j.records.Truncate(j.size)
}

// Close leaves the folder to the next sweep.
func (j *journal) Close() error {
	return errors.Join(j.file.Close(), j.records.Close(), j.keeper.Close())
}
