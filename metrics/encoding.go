package metrics

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// maxChunks bounds the chunks that a line can claim without naming each.
const maxChunks = 1 << 24

// wireFloat is a float64 that JSON can hold when it is infinite.
type wireFloat float64

func (f wireFloat) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsInf(v, 0) || math.IsNaN(v) {
		return json.Marshal(FormatFloat(v))
	}
	return json.Marshal(float64(f))
}

func (f *wireFloat) UnmarshalJSON(data []byte) error {
	text := string(data)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	v, err := strconv.ParseFloat(text, 64)
	*f = wireFloat(v)
	return err
}

// plainConfig is Config without its methods.
type plainConfig Config

// wireConfig is a Config as JSON: what JSON cannot hold is spelled differently.
type wireConfig struct {
	*plainConfig
	RequestRate wireFloat `json:"request_rate"`
	Burstiness  wireFloat `json:"burstiness"`
}

// MarshalJSON writes infinite rates as "inf".
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireConfig{(*plainConfig)(&c), wireFloat(c.RequestRate), wireFloat(c.Burstiness)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Config) UnmarshalJSON(data []byte) error {
	w := wireConfig{plainConfig: (*plainConfig)(c)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	c.RequestRate, c.Burstiness = float64(w.RequestRate), float64(w.Burstiness)
	return nil
}

// wireStamps is Stamps as JSON. Without gaps only the two ends are known.
type wireStamps struct {
	N     int    `json:"n"`
	First int64  `json:"first"`
	Last  int64  `json:"last,omitempty"` // when there are no gaps to reckon it from
	Gaps  []byte `json:"gaps,omitempty"` // zigzag varints, nanoseconds
}

// IsZero says that there are no stamps.
func (s Stamps) IsZero() bool { return s.n == 0 }

// MarshalJSON writes about five bytes a stamp.
func (s Stamps) MarshalJSON() ([]byte, error) {
	w := wireStamps{N: s.n, First: int64(s.first), Gaps: s.deltas}
	if len(s.deltas) == 0 {
		w.Last = int64(s.last)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stamps) UnmarshalJSON(data []byte) error {
	var w wireStamps
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.N < 0 || w.N > maxChunks {
		return fmt.Errorf("%d stamps", w.N)
	}
	*s = Stamps{first: time.Duration(w.First), last: time.Duration(w.Last), n: w.N, deltas: w.Gaps}
	if len(w.Gaps) == 0 {
		return nil
	}
	at, n := w.First, 1
	for b := w.Gaps; len(b) > 0; n++ {
		gap, size := binary.Varint(b)
		if size <= 0 {
			return errors.New("stamps: malformed varint")
		}
		at += gap
		b = b[size:]
	}
	if n != w.N {
		return fmt.Errorf("%d stamps, but %d gaps", w.N, n-1)
	}
	s.last = time.Duration(at)
	return nil
}
