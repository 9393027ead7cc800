package metrics

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// mostOnWire bounds the counts of a steps in a stream, which is made wider until
// it keeps to that: 10 ms up to 11 minutes, a second from 3.6 hours on.
const mostOnWire = 1 << 16

// packed are counts as a stream has them: varints, deflated.
func packed[N int | int32](counts []N) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // that level is allowed
	var varint [binary.MaxVarintLen64]byte
	for _, n := range counts {
		w.Write(varint[:binary.PutUvarint(varint[:], uint64(n))]) // a buffer takes everything
	}
	w.Close()
	return b.Bytes()
}

// unpacked reads what packed writes, of so many counts at most.
func unpacked[N int | int32](data []byte, most int) ([]N, error) {
	if len(data) == 0 {
		return nil, nil
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), int64(most)*binary.MaxVarintLen32))
	if err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	var counts []N
	for len(plain) > 0 && len(counts) < most {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > math.MaxInt32 {
			return nil, errors.New("counts: malformed varint")
		}
		counts = append(counts, N(n))
		plain = plain[size:]
	}
	return counts, nil
}

// wireSteps is steps as JSON.
type wireSteps struct {
	Width  int    `json:"width,omitempty"`  // which of stepWidths
	Origin int64  `json:"origin,omitempty"` // in widths
	Counts []byte `json:"counts,omitempty"` // packed
}

// MarshalJSON writes at most mostOnWire counts, unless the widest steps are more.
func (s steps) MarshalJSON() ([]byte, error) {
	for len(s.counts) > mostOnWire && s.coarse < len(stepWidths)-1 {
		s.widen() // which leaves the original's counts alone
	}
	w := wireSteps{Width: s.coarse, Origin: s.origin}
	if len(s.counts) > 0 {
		w.Counts = packed(s.counts)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *steps) UnmarshalJSON(data []byte) error {
	var w wireSteps
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.Width < 0 || w.Width >= len(stepWidths) {
		return fmt.Errorf("steps of width %d", w.Width)
	}
	if far := math.MaxInt64 / 2 / int64(stepWidths[w.Width]); w.Origin < -far || w.Origin > far {
		return fmt.Errorf("steps from %d", w.Origin)
	}
	counts, err := unpacked[int32](w.Counts, maxSteps)
	*s = steps{w.Width, w.Origin, counts}
	return err
}

// wireBuckets is buckets as JSON.
type wireBuckets struct {
	Origin   float64 `json:"origin"` // seconds
	Chunks   []byte  `json:"chunks"`
	Requests []byte  `json:"requests"`
}

// MarshalJSON writes buckets that hold something.
func (b buckets) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireBuckets{b.origin, packed(b.chunks), packed(b.requests)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *buckets) UnmarshalJSON(data []byte) error {
	var w wireBuckets
	err := json.Unmarshal(data, &w)
	if err != nil {
		return err
	}
	b.origin = w.Origin
	if b.chunks, err = unpacked[int](w.Chunks, maxBuckets); err != nil {
		return err
	}
	b.requests, err = unpacked[int](w.Requests, maxBuckets)
	return err
}
