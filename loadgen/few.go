package loadgen

import "encoding/json"

// maxListed is how many elements of a list are looked at. Real ones have a few,
// and models some hundreds; in memory an empty one takes many times its bytes.
const maxListed = 4096

// A few is the start of a list in JSON. What is no list counts as an empty one, and
// an element of another type as its zero value.
type few[T any] []T

// UnmarshalJSON reads raw, which is JSON.
func (f *few[T]) UnmarshalJSON(raw []byte) error {
	*f = nil
	elements(raw, func(element []byte) bool {
		var v T
		_ = json.Unmarshal(element, &v) // what is of another type is left out
		*f = append(*f, v)
		return len(*f) < maxListed
	})
	return nil
}
