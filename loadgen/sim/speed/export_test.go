package speed

// Read fills p from the text of a profile, for tests outside the package.
func (p *Profile) Read(name string, text []byte) error { return p.read(name, text) }

// BuiltIn is the text of a built-in profile, for tests outside the package.
func BuiltIn(name string) ([]byte, error) { return builtIn.ReadFile("profiles/" + name + ".yaml") }
