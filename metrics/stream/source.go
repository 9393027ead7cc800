package stream

import (
	"fmt"
	"io"
	"os"

	"github.com/servebench/servebench/metrics"
)

// A Source is the names of files that are read as one: a single file, or all files with shards,
// since any of these may belong to one run.
type Source []string

// Sources groups files: all files with shards are together, at the position of the first.
func Sources(names []string) []Source {
	var sources []Source
	shards := -1
	for _, name := range names {
		switch {
		case !holdsShard(name):
			sources = append(sources, Source{name})
		case shards < 0:
			shards = len(sources)
			sources = append(sources, Source{name})
		default:
			sources[shards] = append(sources[shards], name)
		}
	}
	return sources
}

// holdsShard looks into a plain file. A pipe would lose what is read here.
func holdsShard(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return holdsShards(f)
}

// String names the files.
func (s Source) String() string {
	if len(s) == 1 {
		return s[0]
	}
	return fmt.Sprintf("%s and %s", s[0], metrics.Counted(len(s)-1, "more file"))
}

// read sums up the runs of the source, or of stdin for the name "-". It also returns the name of
// what it read. An error begins with that name.
func (s Source) read(stdin io.Reader, ask metrics.Ask) (name string, sums []*metrics.Summary, err error) {
	name, in := s.String(), newFile("<stdin>", stdin)
	if name == "-" {
		name = "standard input"
	} else {
		if in, err = OpenFiles(s...); err != nil {
			return name, nil, err
		}
		defer in.Close() // opened for reading only
	}
	if sums, err = Read(in, ask); err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, sums, nil
}
