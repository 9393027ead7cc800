package argv

// A Definer defines flags for packages that know their settings, but not how flags are read.
type Definer struct{ Flags *Flags }

// BoolVar is a switch.
func (d Definer) BoolVar(to *bool, name string, usual bool, usage string) {
	d.Flags.BoolVar(to, name, usual, usage)
}

// IntVar is a flag with an integer.
func (d Definer) IntVar(to *int, name string, usual int, usage string) {
	d.Flags.IntVar(to, name, usual, usage)
}

// Float64Var is a flag with a number.
func (d Definer) Float64Var(to *float64, name string, usual float64, usage string) {
	d.Flags.Float64Var(to, name, usual, usage)
}

// StringVar is a flag with a text.
func (d Definer) StringVar(to *string, name, usual, usage string) {
	d.Flags.StringVar(to, name, usual, usage)
}

// GivenInt is a flag with an integer that leaves *to as it is unless it is given.
func (d Definer) GivenInt(to *int, name, usage string) {
	d.Flags.Var(Parsed(to, "", ParseInt), name, usage)
}

// GivenFloat is a flag with a number that leaves *to as it is unless it is given.
func (d Definer) GivenFloat(to *float64, name, usage string) {
	d.Flags.Var(Parsed(to, "", ParseFloat), name, usage)
}

// OptionalInt is a flag with an integer that leaves *to nil unless it is given.
func (d Definer) OptionalInt(to **int, name, usage string) {
	d.Flags.Var(Optional(to, ParseInt), name, usage)
}

// ParsedVar is a flag that set reads. usual is the default as a user would write it; empty for none.
func (d Definer) ParsedVar(set func(text string) error, name, usual, usage string) {
	parse := func(text string) (struct{}, error) { return struct{}{}, set(text) }
	d.Flags.Var(Parsed(new(struct{}), usual, parse), name, usage)
}

// Choices are the only arguments of a flag.
func (d Definer) Choices(name string, words ...string) { d.Flags.Choices(name, words...) }

// Offer are some of the arguments of a flag.
func (d Definer) Offer(name string, words ...string) { d.Flags.Offer(name, words...) }
