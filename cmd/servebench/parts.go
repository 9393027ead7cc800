package main

// keepsTrace says whether parts of the run are to be looked at afterwards.
func (b *bench) keepsTrace() bool { return false }
