package truth

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A Kept request is all of one that the server got. Times are in nanoseconds since 1970.
type Kept struct {
	Arrived int64  `json:"arrived"` // when its last byte did
	Ended   int64  `json:"ended"`   // right before its answer's end was written; 0 for never
	Head    string `json:"head"`    // its request line and its fields
	Body    []byte `json:"body"`
}

// keep notes the request that stands in a connection, and gives its number from 1.
func (n *notes) keep(c *conn) int {
	head, body, _ := bytes.Cut(c.in, []byte("\r\n\r\n"))
	n.kept = append(n.kept, Kept{Arrived: c.arrived, Head: string(head), Body: bytes.Clone(body)})
	return len(n.kept)
}

// keepIn writes the requests kept to a file, each in a line.
func (n *notes) keepIn(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for _, k := range n.kept {
		if err := lines.Encode(k); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// ReadKept reads the file of a Script, and puts the requests in the order in which they arrived.
func ReadKept(name string) (all []Kept, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := json.NewDecoder(bufio.NewReader(f)); ; {
		var k Kept
		switch err := lines.Decode(&k); {
		case err == io.EOF:
			slices.SortStableFunc(all, func(a, b Kept) int { return cmp.Compare(a.Arrived, b.Arrived) })
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading the requests kept: %w", err)
		}
		all = append(all, k)
	}
}

// Field is a field of the request's head; empty if there is none.
func (k *Kept) Field(name string) string {
	for line := range strings.SplitSeq(k.Head, "\r\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Tokens is how many the request asks for; 0 if it does not say.
func (k *Kept) Tokens() int { return tokensIn(k.Body) }
