package vllm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// A member is a key of an object and its value.
type member struct {
	key   string
	value json.RawMessage
}

// members are an object in the order of its keys.
type members []member

// decodeObject reads an object and keeps the order of its keys.
func decodeObject(d *json.Decoder) (members, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if token != json.Delim('{') {
		return nil, fmt.Errorf("%v where an object should begin", token)
	}
	all := members{} // not nil: an empty object is one
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, whole(err)
		}
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, whole(err)
		}
		all = append(all, m)
	}
	_, err = d.Token()
	return all, whole(err)
}

// whole turns an end in the middle of an object into an error.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (o members) value(key string) json.RawMessage {
	// As in Python, the last of equal keys counts.
	for _, m := range slices.Backward(o) {
		if m.key == key && !bytes.Equal(m.value, []byte("null")) {
			return m.value
		}
	}
	return nil
}

// object is the object under a key, nil if there is none.
func (o members) object(key string) members { return readObject(o.value(key)) }

// readObject reads an object, nil for anything else.
func readObject(raw json.RawMessage) members {
	object, err := decodeObject(json.NewDecoder(bytes.NewReader(raw)))
	if err != nil {
		return nil
	}
	return object
}

func (o members) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return o.value(k) == nil })
}

// number is the value of a key, NaN if there is none.
func (o members) number(key string) float64 {
	v, err := strconv.ParseFloat(cmp.Or(o.text(key), string(o.value(key))), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // Infinity, see pyjson.Strict
		return math.NaN()
	}
	return v
}

// count is the value of a key, -1 if there is none.
func (o members) count(key string) int {
	v := o.number(key)
	if !(v >= 0 && v < math.MaxInt) {
		return -1
	}
	return int(v)
}

func (o members) text(key string) string {
	var s string
	if raw := o.value(key); raw == nil || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func (o members) hasKey(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

// columns reads the arrays that the object has.
func (o members) columns(into map[string]any) error {
	for key, to := range into {
		if raw := o.value(key); raw != nil {
			if err := json.Unmarshal(raw, to); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

func (o members) flag(key string) bool { return string(o.value(key)) == "true" }

// texts are the texts of a list; none if the key has no list.
func (o members) texts(key string) (texts []string) {
	if json.Unmarshal(o.value(key), &texts) != nil {
		return nil
	}
	return texts
}
