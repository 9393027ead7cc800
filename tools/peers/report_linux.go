package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A machine is where the clients ran.
type machine struct {
	CPU   string  `json:"cpu"`
	Cores int     `json:"cores"`
	Linux string  `json:"linux"`
	Date  string  `json:"date"`
	Load  float64 `json:"load"` // the largest average of a minute at a start
}

// A report is what the page is written from.
type report struct {
	Machine  machine           `json:"machine"`
	Versions map[string]string `json:"versions"` // of the clients
	Results  []result          `json:"results"`
}

// most is how long the turns may take: none begins that would not end in time if it were as long
// as those before.
const most = 12 * time.Minute

// measure lets the clients run in turns: each turn begins with another one. It returns the last
// failure.
func (r *report) measure(b *bench, clients []client, all []measurement, turns int) (failed error) {
	began := time.Now()
	for turn := 0; turn < turns && (turn == 0 ||
		time.Since(began) < most*time.Duration(turn)/time.Duration(turn+1)); turn++ {
		for _, m := range all {
			for i := range clients {
				c := clients[(i+turn)%len(clients)]
				if !c.takes(m, turn) {
					continue
				}
				x := b.measure(m, c)
				r.Results = append(r.Results, x)
				fmt.Fprintf(os.Stderr, "%-30s %-18s CPU %.2f s %s\n", m.name, c.name, x.CPU, x.Error)
				if x.Error != "" {
					failed = fmt.Errorf("%s, %s: %s", m.name, c.name, x.Error)
				}
			}
		}
	}
	return failed
}

// readReport reads the results that an earlier call kept, if only some are measured again.
func readReport(name, only string) (*report, error) {
	r := new(report)
	err := readJSON(name, r)
	if only == "" || errors.Is(err, os.ErrNotExist) {
		return new(report), nil
	}
	again := measurements(false, only)
	r.Results = slices.DeleteFunc(r.Results, func(x result) bool {
		return slices.ContainsFunc(again, func(m measurement) bool { return m.name == x.Measurement })
	})
	return r, err
}

func (r *report) keep(name string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644))
}
