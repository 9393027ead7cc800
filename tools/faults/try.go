package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
)

// together is how many cases are tried at once.
const together = 4

// allCases are the cases in the order of the page. The simulator's list of faults provides its
// cases.
func allCases(ctx context.Context, bin string) ([]*Case, error) {
	simulated, err := simulatorCases(ctx, bin)
	if err != nil {
		return nil, err
	}
	var all []*Case
	for _, cases := range [][]*Case{
		reachCases(), simulated, serverCases(), toxicCases(), nginxCases(), tlsCases(), haproxyCases(), linkCases(),
		clientCases(),
	} {
		all = append(all, cases...)
	}
	return all, nil
}

// try tries the case, and again if the claim failed on a machine that was stopped or busy during
// the run. The error is an errMissing if the case cannot be tried on this machine.
func (c *Case) try(ctx context.Context, bin string) (Row, error) {
	for again := 4; ; again-- {
		o, err := c.once(ctx, bin)
		if err == nil {
			err = c.verify(o)
		}
		if o == nil {
			return Row{}, err
		}
		if err == nil || again == 0 || !o.disturbed() {
			return c.row(o), err
		}
	}
}

// once tries the case once.
func (c *Case) once(ctx context.Context, bin string) (*Outcome, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	s, err := open(ctx, bin)
	if err != nil {
		return nil, err
	}
	defer s.end()
	url, err := c.Make(s)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", c.Group, c.Fault, err)
	}
	o, err := s.try(url, c.Args)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", c.Group, c.Fault, err)
	}
	return o, nil
}

// tryAll tries all cases, several at once, and joins the errors of those that failed.
func tryAll(ctx context.Context, bin string, cases []*Case) ([]Row, error) {
	rows := make([]Row, len(cases))
	wrong := make([]error, len(cases))
	each := func(alone bool, do func(func())) {
		for i, c := range cases {
			if c.Alone == alone {
				do(func() { rows[i], wrong[i] = c.try(ctx, bin) })
			}
		}
	}
	var group errgroup.Group
	group.SetLimit(together)
	each(false, func(try func()) { group.Go(func() error { try(); return nil }) })
	_ = group.Wait() // each case has its own error
	each(true, func(try func()) { try() })
	for i, err := range wrong {
		if missing, ok := errors.AsType[errMissing](err); ok {
			fmt.Fprintf(os.Stderr, "not tried: %s, %s: %s\n", cases[i].Group, cases[i].Fault, missing)
			rows[i], wrong[i] = cases[i].untried(missing), nil
		}
	}
	return rows, errors.Join(wrong...)
}
