package record

import "iter"

// All yields all fields of the table, and all fields of the objects in it.
func All() iter.Seq[*Field] {
	return func(yield func(*Field) bool) { each(table, nil, yield) }
}

func each(fields []Field, within func(*Record) bool, yield func(*Field) bool) bool {
	for i := range fields {
		f := fields[i]
		if f.kind == kindObject {
			if !each(f.fields, f.within, yield) {
				return false
			}
			continue
		}
		if f.within = within; !yield(&f) {
			return false
		}
	}
	return true
}

// Value is the field as tables have it: whole numbers and lists of them of type int64, times in seconds from the start
// of the run and spans in milliseconds as float64, texts and flags. It is nil where the record does not have it.
func (f *Field) Value(r *Record) any {
	if f.within != nil && !f.within(r) {
		return nil
	}
	switch f.kind {
	case kindCount:
		return int64(*f.count(r))
	case kindSpan:
		return float64(*f.time(r)) / 1e6
	case kindStart, kindTime:
		return f.time(r).Seconds()
	case kindMaybe:
		if at := *f.maybe(r); at != nil {
			return at.Seconds()
		}
	case kindFlag:
		return *f.flag(r)
	case kindText, kindName:
		return *f.text(r)
	case kindList:
		var all []int64
		for _, n := range *f.list(r) {
			all = append(all, int64(n))
		}
		return all
	case kindNumber:
		if v := *f.number(r); v != nil {
			return *v
		}
	case kindAmount:
		return *f.amount(r)
	}
	return nil
}

// Zero is the zero of the type that Value has; nil if tables cannot have the field.
func (f *Field) Zero() any {
	switch f.kind {
	case kindCount:
		return int64(0)
	case kindSpan, kindStart, kindTime, kindMaybe, kindNumber, kindAmount:
		return 0.0
	case kindFlag:
		return false
	case kindText, kindName:
		return ""
	case kindList:
		return []int64(nil)
	}
	return nil
}
