package main

import (
	"errors"
)

// resultFiles are the result files of a sweep's runs whose names are given.
type resultFiles map[string]bool

// add refuses a run that would write over the file of another.
func (f resultFiles) add(o *options, again bool) error {
	for _, o := range o.all() {
		r := &o.Results
		if !r.Save && !r.Plots.Any() || r.Append || r.Filename == "" {
			continue
		}
		if name := r.Path(r.Filename); f[name] || again {
			return errors.New("argument --result-filename: each run would write over the file of the one before: leave that away, or take --append-result")
		} else {
			f[name] = true
		}
	}
	return nil
}

// withhold keeps a run from writing its result files, whose writing it returns:
// it is for when the run counts, so that no file tells of one that does not.
func (e *experiment) withhold() (write func() error, err error) {
	if r := &e.Results; !r.Save && !r.Append && !r.Plots.Any() {
		return nil, nil
	}
	for _, o := range e.all() {
		if err := o.checkFiles(); err != nil {
			return nil, err
		}
		o.Results.Withheld = true
	}
	return func() error {
		var errs []error
		for _, r := range e.done {
			errs = append(errs, e.results(r).Write(r.Summary))
		}
		return errors.Join(errs...)
	}, nil
}
