package stream

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A reqLine is a Record in a stream of version 2. Its fields replace fields of the Record that have
// other values or names there: times count from Sent, and what is usual is left out.
type reqLine struct {
	lineHead
	// Attempts is how often the request was sent; 1 if missing.
	Attempts number `json:"attempts"`
	// Lag is how late the request was sent, and Queue how long it waited for a slot: the schedule wanted it
	// at Sent − Lag − Queue.
	Lag   time.Duration `json:"lag"`
	Queue time.Duration `json:"queue"`

	Wrote     number `json:"wrote"`
	FirstByte number `json:"first_byte"`

	// Chunks is the number of chunks that vLLM's client counts as output.
	Chunks int `json:"chunks"`
	// First is the arrival of the first of Chunks, so it is TTFT.
	First time.Duration `json:"first"`
	// Last is the arrival of the last of Chunks, so it is E2EL; First if missing.
	Last number `json:"last"`
	// Gaps are the times between the arrivals, as zigzag varints in base64.
	Gaps []byte `json:"gaps"`
	// FirstContent is the arrival of the first chunk with text, reasoning, a call or a refusal; First if
	// missing, unless NoContent says that there was none.
	FirstContent number    `json:"first_content"`
	NoContent    bool      `json:"no_content"`
	FirstOutput  number    `json:"first_output"`
	Blank        blankPart `json:"blank"`

	Trailer number `json:"trailer"`
	End     number `json:"end"`

	// InAsked is the dataset's count of prompt tokens; In if missing.
	InAsked number `json:"in_asked"`
	// OutAsked is how many output tokens were requested; Out if missing.
	OutAsked number `json:"out_asked"`
	// Status is the HTTP status, 0 without a reply; 200 if missing.
	Status number `json:"status"`

	Step *stepPart `json:"step"`

	*metrics.Record
}

// A stepPart is the Session of a reqLine.
type stepPart struct {
	// Ready is when the last of the responses that it waited for had arrived, or the session started; if missing,
	// the due time minus Gap.
	Ready number `json:"ready"`
	At    number `json:"at"`
	// SessionSlot is when the session got its session slot; without a limit, when its first turn was due.
	SessionSlot number `json:"place"`

	*metrics.Turn
}

// A blankPart is the blank chunks of a reqLine.
type blankPart struct {
	N     int           `json:"n"` // their number; the others are as above
	First time.Duration `json:"first"`
	Last  number        `json:"last"`
	Gaps  []byte        `json:"gaps"`
}

// complete fills in the Record.
func (l *reqLine) complete() (err error) {
	r := l.Record
	r.Slot, r.Due = r.Sent-l.Lag, r.Sent-l.Lag-l.Queue
	if l.Queue < 0 {
		r.Due, r.Slot = r.Sent-l.Lag, r.Sent-l.Lag+l.Queue
	}
	r.Wrote, r.FirstByte, r.FirstContent, r.FirstOutput = l.at(l.Wrote), l.at(l.FirstByte), l.at(l.FirstContent),
		l.at(l.FirstOutput)
	r.Trailer, r.End = l.at(l.Trailer), l.at(l.End)
	if l.Chunks != 0 {
		if r.Chunks, err = l.stamps(l.Chunks, l.First, l.Last, l.Gaps); err != nil {
			return err
		}
		r.Last = r.Chunks.Last()
		if !l.FirstContent.there && !l.NoContent {
			r.FirstContent = r.Chunks.First()
		}
	}
	r.Attempts, r.Status = int(l.Attempts.or(1)), int(l.Status.or(http.StatusOK))
	r.InAsked, r.OutAsked = int(l.InAsked.or(int64(r.In))), int(l.OutAsked.or(int64(r.Out)))
	l.step()
	b := &l.Blank
	r.Blank, err = l.stamps(b.N, b.First, b.Last, b.Gaps)
	return err
}

// step fills in the Record's Session.
func (l *reqLine) step() {
	p, r := l.Step, l.Record
	if r.Session = nil; p == nil {
		return
	}
	if r.Session = p.Turn; r.Session == nil {
		r.Session = &metrics.Turn{} // it has none of the other members
	}
	r.Session.Ready = r.Due - r.Session.Gap
	if p.Ready.there {
		r.Session.Ready = l.at(p.Ready)
	}
	if p.At.there {
		r.Session.At = new(l.at(p.At))
	}
	r.Session.SessionSlot = l.at(p.SessionSlot)
}

// at is a time on the clock of the run, 0 for none.
func (l *reqLine) at(after number) time.Duration {
	if !after.there {
		return 0
	}
	return l.Record.Sent + time.Duration(after.n)
}

func (l *reqLine) stamps(n int, first time.Duration, last number, gaps []byte) (metrics.Stamps, error) {
	if n == 0 {
		return metrics.Stamps{}, nil
	}
	sent := l.Record.Sent
	return metrics.StampsOf(n, sent+first, sent+time.Duration(last.or(int64(first))), gaps)
}

// A number may be missing.
type number struct {
	n     int64
	there bool
}

// or is the number, or the usual one if it is missing.
func (v number) or(usual int64) int64 {
	if !v.there {
		return usual
	}
	return v.n
}

// UnmarshalJSON reads an integer.
func (v *number) UnmarshalJSON(text []byte) error {
	if v.there = !bytes.Equal(text, []byte("null")); !v.there {
		return nil
	}
	return json.Unmarshal(text, &v.n)
}
