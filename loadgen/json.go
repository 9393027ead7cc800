package loadgen

// An Object is a JSON object that keeps the order of its members, and the
// spelling of numbers as far as Python's json module keeps it.
//
// A value is nil, a bool, a string, an int, a float64, a json.Number (an
// integer of any size), an Object or a []any of these.
type Object []Member

// A Member is one key of an Object with its value.
type Member struct {
	Key   string
	Value any
}
