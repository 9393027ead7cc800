// Power shows how often servebench compare is wrong, and how often it finds what is there: it lets
// the gate, the gate as it was before, and two textbook tests decide about many simulated
// experiments, and prints their verdicts as tables in Markdown. It fails if the gate calls more runs
// REGRESSED that are alike than a true rate of 5 % allows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "power:", err)
		os.Exit(1)
	}
}

// run writes the tables that the arguments ask for.
func run(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("power", flag.ContinueOnError)
	trials := flags.Int("trials", 1000, "experiments for each cell")
	seed := flags.Uint64("seed", 1, "seed of all chance")
	noises := flags.String("noise", "", "only noises that match this regular expression")
	plans := flags.String("design", "", "only designs that match this regular expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*noises)
	if err != nil {
		return err
	}
	asked, err := regexp.Compile(*plans)
	if err != nil {
		return err
	}
	all, err := allNoises()
	if err != nil {
		return err
	}
	s := series{trials: *trials, seed: *seed}
	for _, n := range all {
		if wanted.MatchString(n.name) {
			s.noises = append(s.noises, n)
		}
	}
	var failed []error
	for _, d := range designs() {
		if !asked.MatchString(d.name) {
			continue
		}
		for _, aim := range aims {
			rows := s.rows(d, aim.margin, aim.effect)
			fmt.Fprintf(w, "## %s: margin %.0f %%, effect %.0f %%\n\n", d.name, aim.margin*100, aim.effect*100)
			if err := s.write(w, rows); err != nil {
				return err
			}
			failed = append(failed, s.check(d, rows))
		}
	}
	for _, aim := range aims {
		if asked.MatchString("sequential") {
			all := s.early(aim.margin, aim.effect)
			fmt.Fprintf(w, "## sequential: margin %.0f %%, effect %.0f %%\n\n", aim.margin*100, aim.effect*100)
			failed = append(failed, s.writeEarly(w, all), s.checkEarly(all))
		}
	}
	return errors.Join(failed...)
}

// aims are the margins of the gate, and the effects that it should find by them.
var aims = []struct{ margin, effect float64 }{{0.05, 0.10}, {0.02, 0.05}}
