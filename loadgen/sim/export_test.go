package sim

// At is the length of request n, for tests outside the package.
func (l *Lengths) At(n int64, stride float64) int { return l.at(n, stride) }
