package main

import (
	"fmt"
	"io"
	"os"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// A source is the names of files that are read as one: of a single file, or of all
// those that hold shards, of which any may be of the same run.
type source []string

// sourcesOf puts the files that hold shards together, in the place of the first.
func sourcesOf(names []string) []source {
	var sources []source
	shards := -1
	for _, name := range names {
		switch {
		case !holdsShard(name):
			sources = append(sources, source{name})
		case shards < 0:
			shards = len(sources)
			sources = append(sources, source{name})
		default:
			sources[shards] = append(sources[shards], name)
		}
	}
	return sources
}

// holdsShard looks into a plain file. What a pipe holds would be lost by that.
func holdsShard(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return stream.Sharded(f)
}

func (s source) String() string {
	if len(s) == 1 {
		return s[0]
	}
	return fmt.Sprintf("%s and %s", s[0], count(len(s)-1, "more file"))
}

// read reads the runs of the source, which is stdin where its name is "-".
func (s source) read(stdin io.Reader, ask metrics.Ask) (name string, sums []*metrics.Summary, err error) {
	name, in := s.String(), stream.NewFile("<stdin>", stdin)
	if name == "-" {
		name = "standard input"
	} else {
		if in, err = stream.OpenFiles(s...); err != nil {
			return name, nil, err
		}
		defer in.Close() // which was only read
	}
	if sums, err = stream.Read(in, ask); err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, sums, nil
}
