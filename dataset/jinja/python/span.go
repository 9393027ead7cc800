package python

// A span is the result of range.
type span struct{ start, stop, step int }

func (s span) len() int {
	switch {
	case s.step > 0 && s.start < s.stop:
		return (s.stop-s.start-1)/s.step + 1
	case s.step < 0 && s.start > s.stop:
		return (s.start-s.stop-1)/-s.step + 1
	}
	return 0
}

// MakeRange is a call of range.
func MakeRange(_ *Meter, a *Arguments) Value {
	a.Expect("range", 1, 3)
	s := span{step: 1}
	if len(a.Positional) == 1 {
		s.stop = AsInteger(a.At(0), "range")
	} else {
		s.start, s.stop = AsInteger(a.At(0), "range"), AsInteger(a.At(1), "range")
		s.step = AsInteger(a.Or(2, 1), "range")
	}
	if s.step == 0 {
		Raise("range() arg 3 must not be zero")
	}
	const largest = 100_000
	if s.len() > largest || s.len() < 0 {
		Raise("range too big: the limit is %d", largest)
	}
	return s
}
