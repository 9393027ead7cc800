// Package sessions reads and makes sessions of several turns: recorded traces, chats, and jobs of
// agents.
//
// A dataset here is a struct with Open, like those in package dataset, and yields sessions in the
// order in which they start. It checks the whole file when it is opened, and an error names file and
// line. It builds a session when it is pulled, so memory does not grow with the file: at most an
// index of where the lines are.
package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// notice tells people something about the file, if they listen.
func notice(o *dataset.Options, format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// number is how many of have sessions to send; 0 and less of Options.Num means all.
func number(o *dataset.Options, have int) int {
	if o.Num > 0 {
		return min(o.Num, have)
	}
	return have
}

// open opens a file that is read twice. It stays open until nobody holds it any more.
func open(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if stat, err := file.Stat(); err == nil && !stat.Mode().IsRegular() {
		file.Close()
		return nil, fmt.Errorf("%s: is read twice, so it must be a regular file", path)
	}
	return file, nil
}

// A start is when a session starts in the recording.
type start struct {
	due   time.Duration
	line  int // of its first request
	timed bool
}

// byStart is the sessions in the order in which they start, equal times as in the file.
func byStart(starts []start) []uint32 {
	order := make([]uint32, len(starts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(starts[a].due, starts[b].due) })
	return order
}

// contents is a name of what a file contains.
func contents(file io.ReaderAt) (string, error) {
	hash := fnv.New64a()
	_, err := io.Copy(hash, io.NewSectionReader(file, 0, math.MaxInt64))
	return strconv.FormatUint(hash.Sum64(), 16), err
}

// seconds is d as a dataset has it: the float64 nearest to it.
func seconds(d time.Duration) float64 { return float64(d) / 1e9 }

// maxTime is the first whole second that a time.Duration does not reach.
const maxTime = math.MaxInt64/1_000_000_000 + 1

// maxLen is longer than any model accepts: a longer prompt or answer means a broken file.
const maxLen = 1 << 28

const mustFit = "must be at least 1 and below 2²⁸"

// fits reports whether a prompt or an answer can have n tokens.
func fits(n int) bool { return n >= 1 && n < maxLen }

// A name is an id in a file.
type name = rows.Name

// asked is a text as the only message of a user.
func asked(text string) json.RawMessage {
	raw, _ := json.Marshal([]map[string]string{{"role": "user", "content": text}}) // cannot fail
	return raw
}
