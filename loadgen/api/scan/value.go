package scan

import "encoding/json"

// MaxCount is the largest number accepted as a count, so that sums of counts fit into an int.
const MaxCount = 1e9 - 1

// Decoded stores the raw values of the named members of data in values, by encoding/json. What is no
// object has none.
func Decoded(data []byte, names []string, values [][]byte) error {
	var object map[string]json.RawMessage
	if err := Into(data, &object); err != nil {
		return err
	}
	for i, name := range names {
		values[i] = object[name]
	}
	return nil
}

// Kind is the type of an event or a part of it, nil if it has none.
func Kind(raw []byte) []byte {
	if IsNull(raw) {
		return nil
	}
	return Plain(raw)
}

// Within stores the raw values of the named members of an object in values. What is no object has none.
func Within(raw []byte, names []string, values [][]byte) {
	if !IsNull(raw) && !Members(raw, names, values) {
		clear(values)
		_ = Decoded(raw, names, values) // it is a part of JSON that was read
	}
}

// Number is the number in raw; nil for anything else.
func Number(raw json.RawMessage) *float64 {
	var v float64
	if IsNull(raw) || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return &v
}

// CountOf is the count in raw, 0 if it is not a count, and whether raw is there.
func CountOf(raw json.RawMessage) (n int, there bool) {
	if IsNull(raw) {
		return 0, false
	}
	if err := json.Unmarshal(raw, &n); err != nil || n < 0 || n > MaxCount {
		return 0, false
	}
	return n, true
}
