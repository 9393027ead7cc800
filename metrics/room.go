package metrics

import (
	"fmt"
	"unsafe"
)

// size is the bytes that a kept r takes, but for strings that it shares with others.
func (r *Record) size() int {
	n := int(unsafe.Sizeof(*r)) + cap(r.Chunks.deltas) + cap(r.Blank.deltas) + 8*cap(r.TokensPerChunk) + len(r.ID) + len(r.Finish) + len(r.Error) + len(r.Text)
	if r.Server != nil {
		n += int(unsafe.Sizeof(*r.Server)) + 2*int(unsafe.Sizeof(*r.Server.TTFTMS))
	}
	return n
}

// size is the bytes that a kept o takes.
func (o *Outcome) size() int {
	return int(unsafe.Sizeof(*o)) + 8*len(o.ITL) + len(o.Error) + len(o.Text)
}

// size is the bytes that a kept l takes.
func (l *Lasting) size() int { return int(unsafe.Sizeof(*l)) }

// size is the bytes that a kept s takes, with the numbers that it points to.
func (s *Sample) size() int {
	n := int(unsafe.Sizeof(*s)) + len(s.GPUs)*2*int(unsafe.Sizeof(GPUSample{})) + len(s.Error)
	if s.Server != nil {
		n += 2 * int(unsafe.Sizeof(*s.Server))
	}
	return n
}

// room says whether so many bytes more can be kept of single requests and samples.
// Once they cannot, all that was kept is let go: of a part nothing could be said
// that is true of the run.
func (c *Collector) room(bytes int) bool {
	if c.shed {
		return false
	}
	if c.kept += bytes; c.MaxKept > 0 && c.kept > c.MaxKept {
		c.shed, c.trace, c.sum.Outcomes, c.sum.Lastings = true, Trace{}, nil, nil
	}
	return !c.shed
}

// shedding is what there is to say of what was let go.
func (c *Collector) shedding() []string {
	if !c.shed {
		return nil
	}
	return []string{fmt.Sprintf("single requests took more than %d MiB and were let go: the run itself shows no windows, slices, charts, targets together or arrays "+
		"of a detailed result file; servebench report makes them from a record stream (-o)", c.MaxKept>>20)}
}
