package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Recorded reads recorded runs by the names that a user gives: files, folders of files, folders
// with a record stream of a known name, and some runs of a file.
type Recorded struct {
	Ask    metrics.Ask
	Stdin  io.Reader         // read for the name "-"
	Stream string            // name of the record stream to read in a folder, if it is there
	Warn   func(text string) // receives what is wrong with runs that are read anyway

	// Finished returns how many bytes of a folder's record stream have finished runs. The rest is
	// not read. A negative number, or a nil func, means all of it.
	Finished func(folder string) int64
}

// Read sums up the runs of all names, in order. FILE:2 is the second run of a file or a folder, and
// FILE:2-5 are the second to the fifth.
func (r *Recorded) Read(names ...string) ([]*metrics.Summary, error) {
	var all []*metrics.Summary
	for _, from := range Sources(names) {
		sums, err := r.Of(from)
		if err != nil {
			return nil, err
		}
		all = append(all, sums...)
	}
	return all, nil
}

// Of sums up the runs of one source, which may be a name as Read accepts it.
func (r *Recorded) Of(from Source) ([]*metrics.Summary, error) {
	name := from[0]
	info, err := os.Stat(name)
	switch {
	case name == "-" || err == nil && !info.IsDir():
		return r.runs(from)
	case err != nil:
		return r.chosen(name, err)
	}
	if stream := filepath.Join(name, r.Stream); r.Stream != "" && exists(stream) {
		return r.stream(name, stream)
	}
	return r.folder(name)
}

// stream reads the finished runs of a folder's record stream.
func (r *Recorded) stream(folder, name string) ([]*metrics.Summary, error) {
	if r.Finished == nil {
		return r.runs(Source{name})
	}
	size := r.Finished(folder)
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case size < 0 || info.Size() <= size:
		return r.runs(Source{name})
	case size == 0:
		return nil, fmt.Errorf("%s: no run has finished yet; %s has the requests so far", folder, name)
	}
	r.Warn(folder + ": 1 run is not finished: left out")
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only
	sums, err := Read(newFile(name, io.LimitReader(f, size)), r.Ask)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r.warned(name, sums), nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// combined are the result files of single runs in a folder of vLLM's sweep, or in the folder of one
// of its combinations, in order. There are none in another folder.
func combined(folder string) (names []string) {
	for _, pattern := range []string{"run=*.json", "*/run=*.json"} {
		found, _ := fs.Glob(os.DirFS(folder), pattern) // the patterns are right
		found = slices.DeleteFunc(found, func(name string) bool { return !runFile().MatchString(name) })
		slices.SortStableFunc(found, func(a, b string) int {
			return cmp.Or(strings.Compare(path.Dir(a), path.Dir(b)), cmp.Compare(runOf(a), runOf(b)))
		})
		for _, name := range found {
			names = append(names, filepath.Join(folder, filepath.FromSlash(name)))
		}
	}
	return names
}

var runFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)run=(\d{1,9})\.json$`)
})

// runOf is the number of the run of a file that matches runFile.
func runOf(name string) int {
	n, _ := strconv.Atoi(runFile().FindStringSubmatch(name)[1]) // it has a few digits
	return n
}

// folder reads the files of a folder.
func (r *Recorded) folder(name string) ([]*metrics.Summary, error) {
	if names := combined(name); names != nil {
		return r.all(names)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, filepath.Join(name, e.Name()))
		}
	}
	all, err := r.all(names)
	if all == nil && err == nil {
		err = fmt.Errorf("%s: no runs in that folder", name)
	}
	return all, err
}

// all reads files. It warns of files without runs.
func (r *Recorded) all(names []string) (all []*metrics.Summary, err error) {
	for _, from := range Sources(names) {
		sums, err := r.runs(from)
		if errors.Is(err, ErrNothing) {
			r.Warn(fmt.Sprintf("%s: no runs in it", from))
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, sums...)
	}
	return all, nil
}

var choice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+):([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$`)
})

// chosen reads FILE:2 or FILE:2-5. For another name, it returns the given error.
func (r *Recorded) chosen(name string, failed error) ([]*metrics.Summary, error) {
	parts := choice().FindStringSubmatch(name)
	if parts == nil {
		return nil, failed
	}
	if _, err := os.Stat(parts[1]); err != nil {
		return nil, err
	}
	whole := *r
	whole.Ask.Each = nil // which runs are meant is known once all are read
	all, err := whole.Of(Source{parts[1]})
	if err != nil {
		return nil, err
	}
	// Both are a few digits.
	first, _ := strconv.Atoi(parts[2])
	last := first
	if parts[3] != "" {
		last, _ = strconv.Atoi(parts[3])
	}
	if last < first || last > len(all) {
		return nil, fmt.Errorf("%s: %s has %s", name, parts[1], metrics.Counted(len(all), "run"))
	}
	return all[first-1 : last], r.tell(parts[1], all[first-1:last])
}

// tell calls Ask.Each with the requests of some runs of a file or a folder, which it reads again.
func (r *Recorded) tell(name string, runs []*metrics.Summary) error {
	if r.Ask.Each == nil {
		return nil
	}
	meant := map[string]bool{}
	for _, s := range runs {
		meant[s.Header.Run] = true
	}
	again := *r
	again.Warn = func(string) {} // the first reading has warned already
	again.Ask.Each = func(h *metrics.Header, rec *record.Record) {
		if meant[h.Run] {
			r.Ask.Each(h, rec)
		}
	}
	_, err := again.Of(Source{name})
	return err
}

// runs are all runs of a source.
func (r *Recorded) runs(from Source) ([]*metrics.Summary, error) {
	name, sums, err := from.read(r.Stdin, r.Ask)
	return r.warned(name, sums), err
}

// warned passes on what is wrong with the runs of that name, and returns them.
func (r *Recorded) warned(name string, sums []*metrics.Summary) []*metrics.Summary {
	for i, s := range sums {
		s.Source.Origin = metrics.Origin{File: name, Number: i + 1, Of: len(sums)}
		for _, w := range s.Ending.Warnings {
			if len(sums) > 1 {
				w = fmt.Sprintf("run %d of %d: %s", i+1, len(sums), w)
			}
			r.Warn(name + ": " + w)
		}
	}
	return sums
}
