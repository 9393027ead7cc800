package tokenizer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// A section is one part of a document, and its place there, such as normalizer.normalizers[1].
type section struct {
	place string
	raw   json.RawMessage
}

// A kind is a type that a section may have.
type kind[T any] struct {
	name string
	read func(section) (T, error)
	but  string // what of it is refused, for the docs; empty if nothing is
}

// choose reads a section as the kind of its type.
func choose[T any](s section, kinds []kind[T]) (T, error) {
	name := s.kind()
	for _, k := range kinds {
		if k.name == name {
			return k.read(s)
		}
	}
	var none T
	return none, s.refused()
}

// refused is the error for a section of a kind that is not known.
func (s section) refused() error {
	if name := s.kind(); name != "" {
		return s.errorf("type %q is not supported yet", name)
	}
	if s.absent() {
		return s.errorf("it is missing")
	}
	return s.errorf("it has no type")
}

// kind is the type of a section, or empty.
func (s section) kind() string {
	var typed struct{ Type string }
	if json.Unmarshal(s.raw, &typed) != nil {
		return ""
	}
	return typed.Type
}

func (s section) absent() bool { return absent(s.raw) }

// read decodes a section into a struct or a map. It refuses fields that the struct does not have, and
// a section that lacks one of its fields, unless that has the tag omitzero.
func (s section) read(into any) error {
	if err := decode(s.raw, into); err != nil {
		return s.errorf("%w", plain(err))
	}
	var fields map[string]json.RawMessage
	form := reflect.TypeOf(into).Elem()
	if form.Kind() != reflect.Struct || json.Unmarshal(s.raw, &fields) != nil {
		return nil
	}
	for i := range form.NumField() {
		name, optional, _ := strings.Cut(form.Field(i).Tag.Get("json"), ",")
		if _, there := fields[name]; !there && optional == "" {
			return s.errorf("it has no %s", name)
		}
	}
	return nil
}

// plain is an error of encoding/json without the names of Go's types.
func plain(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: unexpected JSON %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	return err
}

// list are the sections of a Sequence, which has them in a field of that name.
func (s section) list(field string) ([]section, error) {
	var fields map[string]json.RawMessage
	if err := s.read(&fields); err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if raw, ok := fields[field]; !ok || len(fields) != 2 {
		return nil, s.errorf("it is no list of %s", field)
	} else if err := json.Unmarshal(raw, &all); err != nil {
		return nil, s.errorf("%s: %w", field, err)
	}
	sections := make([]section, len(all))
	for i, raw := range all {
		sections[i] = section{fmt.Sprintf("%s.%s[%d]", s.place, field, i), raw}
	}
	return sections, nil
}

// errorf is an error with the place of a section.
func (s section) errorf(format string, args ...any) error {
	return fmt.Errorf(s.place+": "+format, args...)
}

// readAll reads each section of a list.
func readAll[T any](s section, field string, read func(section) (T, error)) ([]T, error) {
	sections, err := s.list(field)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(sections))
	for i, one := range sections {
		if all[i], err = read(one); err != nil {
			return nil, err
		}
	}
	return all, nil
}
