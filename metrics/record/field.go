package record

import "time"

// A Field describes one field of a Record: its key in a line, its column in tables of requests, and its form.
type Field struct {
	// Key is the key of its member of a line. It is empty if lines do not have the field.
	Key string
	// Column is its name in tables of requests, with its unit. It is empty if tables do not have the field as it is.
	Column string

	form
}

// A kind says what a field holds, and so how it is written.
type kind uint8

const (
	kindCount   kind = iota // a whole number of something
	kindSpan                // nanoseconds
	kindStart               // when the request was sent, in nanoseconds from the start of the run
	kindTime                // when something happened; lines and memory have the nanoseconds from kindStart
	kindMaybe               // such a time, or nil
	kindFirst               // the first of stamps, as such a time
	kindLast                // the last of stamps, as such a time
	kindDerived             // nanoseconds that are computed from other fields
	kindFlag                // true, or not there
	kindSign                // a flag that is computed from other fields
	kindText                // a text
	kindName                // a text that many records share
	kindBytes               // bytes, in lines as base64
	kindJSON                // JSON as it is
	kindList                // whole numbers
	kindNumber              // a number, or nil
	kindAmount              // a number, not there if it is 0
	kindObject              // fields
)

// A form says where a field is in a Record, and what of it need not be written. It has the members that its kind needs.
type form struct {
	kind   kind
	always bool // lines have it whatever its value
	lines  bool // only lines have it
	never  bool // a time of 0 means never: it does not move with the clock
	zero   bool // such a 0 is written where it is not usual
	shared bool // a Scanner shares the text between lines

	count  func(*Record) *int
	time   func(*Record) *time.Duration // of a span, too
	maybe  func(*Record) **time.Duration
	stamps func(*Record) *Stamps
	flag   func(*Record) *bool
	text   func(*Record) *string
	bytes  func(*Record) *[]byte
	list   func(*Record) *[]int
	number func(*Record) **float64
	amount func(*Record) *float64

	usual func(*Record) int64 // what a count or a time is if it is missing; nil for 0

	get func(*Record) time.Duration // for what is derived
	set func(*Record, time.Duration)

	there  func(*Record) bool // for objects
	make   func(*Record)
	fields []Field
	within func(*Record) bool // whether what holds the field is there; nil if it always is
}

func count(at func(*Record) *int) form           { return form{kind: kindCount, count: at} }
func span(at func(*Record) *time.Duration) form  { return form{kind: kindSpan, time: at} }
func start(at func(*Record) *time.Duration) form { return form{kind: kindStart, time: at} }
func maybe(at func(*Record) **time.Duration) form {
	return form{kind: kindMaybe, maybe: at}
}
func first(of func(*Record) *Stamps) form    { return form{kind: kindFirst, stamps: of} }
func last(of func(*Record) *Stamps) form     { return form{kind: kindLast, stamps: of} }
func flag(at func(*Record) *bool) form       { return form{kind: kindFlag, flag: at} }
func text(at func(*Record) *string) form     { return form{kind: kindText, text: at} }
func name(at func(*Record) *string) form     { return form{kind: kindName, text: at} }
func base64Of(at func(*Record) *[]byte) form { return form{kind: kindBytes, bytes: at} }
func raw(at func(*Record) *[]byte) form      { return form{kind: kindJSON, bytes: at} }
func list(at func(*Record) *[]int) form      { return form{kind: kindList, list: at} }
func number(at func(*Record) **float64) form { return form{kind: kindNumber, number: at} }
func amount(at func(*Record) *float64) form  { return form{kind: kindAmount, amount: at} }

func gaps(of func(*Record) *Stamps) form {
	return base64Of(func(r *Record) *[]byte { return &of(r).deltas })
}

// clock is a time that may be 0.
func clock(at func(*Record) *time.Duration) form { return form{kind: kindTime, time: at} }

// moment is a time whose zero means never.
func moment(at func(*Record) *time.Duration) form {
	return form{kind: kindTime, time: at, never: true}
}

// message is a text that lines share, but too long to keep all that there were.
func message(at func(*Record) *string) form { return form{kind: kindText, text: at, shared: true} }

// usually is a count or a time that is missing where it is what it usually is.
func usually(usual func(*Record) int64, f form) form {
	f.usual = usual
	return f
}

// always is a form that lines always have.
func always(f form) form {
	f.always = true
	return f
}

// unpacked is a form that only lines have.
func unpacked(f form) form {
	f.lines = true
	return f
}

func derived(get func(*Record) time.Duration, set func(*Record, time.Duration)) form {
	return form{kind: kindDerived, get: get, set: set}
}

// sign is a flag that is computed from other fields, and sets them.
func sign(on func(*Record) bool, set func(*Record)) form {
	return form{kind: kindSign, there: on, make: set}
}

// object is a part of a Record that may be nil.
func object[T any](fields []Field, at func(*Record) **T) form {
	there := func(r *Record) bool { return *at(r) != nil }
	return form{kind: kindObject, fields: fields, there: there, within: there,
		make: func(r *Record) { *at(r) = new(T) },
	}
}

// part is a part of a Record whose zero value need not be written.
func part(fields []Field, there func(*Record) bool) form {
	return form{kind: kindObject, fields: fields, there: there, make: func(*Record) {}}
}

// integer is the value of a field that is a whole number, and whether it must be written. Missing fields are set by
// lack, in the order of the table.
func (f *Field) integer(r *Record) (v int64, there bool) {
	switch f.kind {
	case kindCount:
		v = int64(*f.count(r))
		return v, v != f.usually(r)
	case kindSpan, kindStart:
		v = int64(*f.time(r))
		return v, v != 0
	case kindTime:
		v = int64(*f.time(r))
		return v - int64(r.Times.Sent), v != f.usually(r) && (v != 0 || !f.never || f.zero)
	case kindMaybe:
		if d := *f.maybe(r); d != nil {
			return int64(*d - r.Times.Sent), true
		}
	case kindFirst:
		s := f.stamps(r)
		return int64(s.first - r.Times.Sent), s.n > 0 && s.first != r.Times.Sent
	case kindLast:
		s := f.stamps(r)
		return int64(s.last - r.Times.Sent), s.last != s.first
	case kindDerived:
		v = int64(f.get(r))
		return v, v != 0
	}
	return 0, false
}

func (f *Field) usually(r *Record) int64 {
	if f.usual == nil {
		return 0
	}
	return f.usual(r)
}

// setInteger sets a field that is a whole number.
func (f *Field) setInteger(r *Record, v int64) {
	at := r.Times.Sent + time.Duration(v)
	switch f.kind {
	case kindCount:
		*f.count(r) = int(v)
	case kindSpan, kindStart:
		*f.time(r) = time.Duration(v)
	case kindTime:
		*f.time(r) = at
	case kindMaybe:
		*f.maybe(r) = new(at)
	case kindFirst:
		f.stamps(r).first = at
	case kindLast:
		f.stamps(r).last = at
	case kindDerived:
		f.set(r, time.Duration(v))
	}
}

// lack sets a field that is missing to its usual value. The Record was empty.
func (f *Field) lack(r *Record) {
	switch f.kind {
	case kindCount:
		if f.usual != nil {
			*f.count(r) = int(f.usual(r))
		}
	case kindTime:
		if f.usual != nil {
			*f.time(r) = time.Duration(f.usual(r))
		}
	case kindFirst:
		if s := f.stamps(r); s.n > 0 {
			s.first = r.Times.Sent
		}
	case kindLast:
		s := f.stamps(r)
		s.last = s.first
	case kindDerived:
		f.set(r, 0)
	}
}

// shift moves the times of r by d.
func shift(fields []Field, r *Record, d time.Duration) {
	for i := range fields {
		f := &fields[i]
		switch f.kind {
		case kindStart:
			*f.time(r) += d
		case kindTime:
			if at := f.time(r); *at != 0 || !f.never {
				*at += d
			}
		case kindMaybe:
			if at := *f.maybe(r); at != nil {
				*f.maybe(r) = new(*at + d)
			}
		case kindFirst:
			f.stamps(r).shift(d)
		case kindObject:
			if f.there(r) {
				shift(f.fields, r, d)
			}
		}
	}
}
