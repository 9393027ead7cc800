package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// Names of the files in a sweep's folder.
const (
	journalName = "journal.jsonl"
	RecordsName = "records.jsonl" // the record stream of all runs
)

// journalVersion is the version of the journal written and read here. Version 1 said of
// a search's run that its limits held, which is less than that it passed.
const journalVersion = 2

// A Journal is what a sweep has done so far, in a folder of its own. A run counts
// once its line is in the journal; of one that does not, nothing is kept in the
// record stream. It is for one goroutine.
type Journal struct {
	Dir     string
	Records *os.File // takes the record stream of the run in progress at its end

	keeper  *hold.Keeper
	file    *os.File
	entries []Entry
	of      map[string][]Entry // entries by cell
	size    int64              // of Records up to the last run that counts
}

// An Entry is one run in the journal.
type Entry struct {
	Cell    string   `json:"cell"`
	Run     string   `json:"run,omitempty"` // its id in the record stream
	Seconds float64  `json:"seconds"`       // it took, with what came before its load
	Notes   []string `json:"notes,omitempty"`
	Failed  string   `json:"failed,omitempty"` // why there are no numbers: it is to be done again
	Value   *float64 `json:"value,omitempty"`  // of the search
	Passed  bool     `json:"passed,omitempty"` // as a probe of the search
	Broke   string   `json:"broke,omitempty"`  // why it did not
	Size    int64    `json:"size"`             // of the record stream after it
}

// A head is the first line of a journal.
type head struct {
	Version int    `json:"v"`
	Plan    string `json:"plan"`
}

// ErrOther says that a journal is of another experiment.
var ErrOther = errors.New("it is of another experiment, of this one before the file was changed, or of an older servebench: choose another folder, or delete it")

// OpenJournal goes on with the journal of p in a folder, or begins one. A journal
// that another sweep has open is waited for, as servers may still be stopping
// there; patience waits a while and says whether to try again.
func OpenJournal(dir string, p *Plan, patience func() bool) (*Journal, error) {
	j := &Journal{Dir: dir, of: map[string][]Entry{}}
	if err := j.open(p.Digest(), patience); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) open(digest string, patience func() bool) (err error) {
	if err := os.MkdirAll(j.Dir, 0o777); err != nil {
		return err
	}
	if j.keeper, err = hold.Open(j.Dir, patience); err != nil {
		return err
	}
	if j.file, err = open(j.Dir, journalName); err != nil {
		return err
	}
	if j.Records, err = open(j.Dir, RecordsName); err != nil {
		return err
	}
	if err := j.read(digest); err != nil {
		return fmt.Errorf("%s: %w", j.file.Name(), err)
	}
	return j.rollback()
}

func open(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
}

// read takes what the journal holds and cuts off a last line that is torn. What is
// not of this experiment is left as it is.
func (j *Journal) read(digest string) error {
	text, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	own, err := json.Marshal(head{journalVersion, digest})
	if err != nil {
		return err
	}
	records, err := j.Records.Stat()
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	switch {
	case whole == 0 && (!bytes.HasPrefix(own, text) || records.Size() > 0):
		return ErrOther
	case whole > 0 && !bytes.HasPrefix(text, append(own, '\n')):
		return ErrOther
	}
	if err := j.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if whole == 0 {
		return j.write(head{journalVersion, digest})
	}
	for i, line := range bytes.Split(text[:whole-1], []byte("\n"))[1:] {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
		if e.Failed == "" { // else its cell is tried again
			j.keep(e)
			j.size = e.Size
		}
	}
	return nil
}

// Of are the runs of a cell so far, those of earlier sessions without failures.
func (j *Journal) Of(cell string) []Entry { return j.of[cell] }

// Entries are all runs so far, in the order in which they were made.
func (j *Journal) Entries() []Entry { return j.entries }

// add takes down a run. When it failed, its records are forgotten.
func (j *Journal) add(e Entry) error {
	if e.Failed != "" {
		if err := j.rollback(); err != nil {
			return err
		}
	} else {
		// The records must be on disk before the line that vouches for them.
		if err := j.Records.Sync(); err != nil {
			return err
		}
		info, err := j.Records.Stat()
		if err != nil {
			return err
		}
		j.size = info.Size()
	}
	e.Size = j.size
	if err := j.write(e); err != nil {
		return err
	}
	j.keep(e)
	return nil
}

func (j *Journal) keep(e Entry) {
	j.entries = append(j.entries, e)
	j.of[e.Cell] = append(j.of[e.Cell], e)
}

func (j *Journal) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// rollback forgets the records of a run that does not count.
func (j *Journal) rollback() error {
	info, err := j.Records.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() < j.size:
		return fmt.Errorf("%s has been shortened: %d bytes of the %d that the journal knows of", j.Records.Name(), info.Size(), j.size)
	case info.Size() == j.size:
		return nil
	}
	return j.Records.Truncate(j.size)
}

// Close ends the use of the folder. What was begun may be gone on with.
func (j *Journal) Close() error {
	var errs []error
	for _, f := range []*os.File{j.file, j.Records} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if j.keeper != nil {
		errs = append(errs, j.keeper.Close())
	}
	return errors.Join(errs...)
}
