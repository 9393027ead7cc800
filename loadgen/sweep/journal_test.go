package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// begin opens the journal of a plan in dir.
func begin(t *testing.T, dir string, p *Plan) (*journal, error) {
	t.Helper()
	keeper, err := hold.Open(t.Context(), dir, 0, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return openJournal(dir, p, keeper)
}

// opened is the journal of a plan in dir, until the test ends.
func opened(t *testing.T, dir string, p *Plan) *journal {
	t.Helper()
	j, err := begin(t, dir, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// done writes the records of a run and takes it down.
func done(t *testing.T, j *journal, cell, records, failed string) {
	t.Helper()
	if _, err := j.records.WriteString(records); err != nil {
		t.Fatal(err)
	}
	if err := j.add(entry{Cell: cell, Run: records, Failed: failed}); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJournalForgetsWhatWasNotDone(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "repeats: 9")
	j := opened(t, dir, p)
	done(t, j, "one", "1", "")
	done(t, j, "two", "2", "no server")
	done(t, j, "three", "3", "")
	if got := j.history.of["two"]; len(got) != 1 || got[0].Failed != "no server" {
		t.Errorf("of a failed run: %+v", got)
	}
	j.records.WriteString("half a r")
	j.file.WriteString(`{"cell":"four","run":"4`)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	j = opened(t, dir, p)
	if got := content(t, dir, RecordsName); got != "13" {
		t.Errorf("the record stream has %q", got)
	}
	if len(j.history.entries) != 2 || len(j.history.of["one"]) != 1 || len(j.history.of["two"]) != 0 || len(j.history.of["three"]) != 1 || len(j.history.of["four"]) != 0 {
		t.Errorf("the journal has %+v", j.history.entries)
	}
	done(t, j, "four", "4", "")
	if got := content(t, dir, RecordsName); got != "134" {
		t.Errorf("the record stream went on as %q", got)
	}
	if got := content(t, dir, journalName); strings.Count(got, "\n") != 5 || !strings.HasSuffix(got, "\n") {
		t.Errorf("the journal went on as %q", got)
	}
}

// However much of the journal's last line is there, the runs before it count and
// those after it do not.
func TestJournalSurvivesACutAnywhere(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "repeats: 9")
	j := opened(t, dir, p)
	for i := range 3 {
		done(t, j, fmt.Sprint(i), fmt.Sprint(i), "")
	}
	j.Close()
	text := content(t, dir, journalName)
	for cut := strings.Index(text, "\n") + 1; cut <= len(text); cut++ {
		dir := t.TempDir()
		for name, text := range map[string]string{journalName: text[:cut], RecordsName: "012"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j := opened(t, dir, p)
		whole := max(0, strings.Count(text[:cut], "\n")-1)
		if got := content(t, dir, RecordsName); len(j.history.entries) != whole || got != "012"[:whole] {
			t.Errorf("cut at %d: %d runs with records %q, want %d", cut, len(j.history.entries), got, whole)
		}
		j.Close()
	}
}

func TestJournalOfAnotherExperimentIsRefused(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir, parse(t, "seed: 1")).Close()
	if _, err := begin(t, dir, parse(t, "seed: 2")); !errors.Is(err, ErrOther) {
		t.Errorf("%v, want %v", err, ErrOther)
	}
	if err := os.WriteFile(filepath.Join(dir, journalName), []byte("my notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, dir, parse(t, "seed: 1")); !errors.Is(err, ErrOther) {
		t.Errorf("%v, want %v", err, ErrOther)
	}
	if got := content(t, dir, journalName); got != "my notes\n" {
		t.Errorf("it now holds %q", got)
	}
}

func TestShortenedRecordsAreNoticed(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "seed: 1")
	j := opened(t, dir, p)
	done(t, j, "one", "12345", "")
	j.Close()
	if err := os.Truncate(filepath.Join(dir, RecordsName), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, dir, p); err == nil || !strings.Contains(err.Error(), "3 bytes of the 5") {
		t.Error(err)
	}
}

func TestJournalLeavesTheFilesOfOthersAlone(t *testing.T) {
	for name, text := range map[string]string{
		RecordsName: `{"precious":1}`, // of a run, without a journal
		journalName: "my diary",       // without a line end
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := begin(t, dir, parse(t, "repeats: 1")); !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
		if got := content(t, dir, name); got != text {
			t.Errorf("%s held %q and holds %q", name, text, got)
		}
	}
}

func TestAJournalWhoseHeadWasTornIsBegunAgain(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "repeats: 1")
	if err := opened(t, dir, p).Close(); err != nil {
		t.Fatal(err)
	}
	head := content(t, dir, journalName)
	if err := os.WriteFile(filepath.Join(dir, journalName), []byte(head[:9]), 0o600); err != nil {
		t.Fatal(err)
	}
	if opened(t, dir, p); content(t, dir, journalName) != head {
		t.Errorf("got %q, want %q", content(t, dir, journalName), head)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add("", 0)
	f.Add(`{"cell":"a/1/1","run":"r","seconds":1,"size":3}`+"\n", 3)
	f.Add(`{"cell":"a/1/1","failed":"no","size":3}`+"\n"+`{"cell":"a/1/1","size":2,"value":1.5,"held":true}`+"\n{", 9)
	f.Add(`{"cell":"a","size":-1}`+"\n", 1)
	f.Fuzz(func(t *testing.T, lines string, size int) {
		dir, p := t.TempDir(), parse(t, "repeats: 2")
		own := fmt.Sprintf(`{"v":%d,"plan":%q}`+"\n", journalVersion, p.digest())
		records := strings.Repeat("r", max(0, min(size, 1000)))
		for name, text := range map[string]string{journalName: own + lines, RecordsName: records} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j, err := begin(t, dir, p)
		if err != nil {
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("the error names no file: %v", err)
			}
			if content(t, dir, RecordsName) != records {
				t.Error("the records were changed")
			}
			return
		}
		entries := fmt.Sprint(j.history.entries)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		kept := content(t, dir, RecordsName)
		j = opened(t, dir, p)
		if got := fmt.Sprint(j.history.entries); len(got) != len(entries) || content(t, dir, RecordsName) != kept || !strings.HasPrefix(records, kept) {
			t.Errorf("opened again: %s, before %s", got, entries)
		}
	})
}

// An earlier version of the journal would read as if all probes of a search had failed.
func TestOlderJournalIsRefused(t *testing.T) {
	p := parse(t, "until: {flag: request-rate, from: 10, to: 40, step: 10, confirm: 1, slo: {mean-ttft: 500}}")
	dir := t.TempDir()
	text := fmt.Sprintf(`{"v":1,"plan":%q}`+"\n"+`{"cell":"a/1/1","run":"r","seconds":5,"value":20,"held":true,"size":0}`+"\n", p.digest())
	if err := os.WriteFile(filepath.Join(dir, journalName), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, dir, p); !errors.Is(err, ErrOther) {
		t.Errorf("%v, want %v", err, ErrOther)
	}
}
