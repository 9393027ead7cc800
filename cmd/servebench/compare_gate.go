package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/pyjson"
)

// offerGate says what completion offers for the flags of compare.
func offerGate(f *argv.Flags) {
	var numbers, ofNumbers, ofFormats []string
	for _, m := range compare.Metrics {
		numbers, ofNumbers = append(numbers, m.Name), append(ofNumbers, m.Name+"=")
	}
	for _, format := range compareFormatNames() {
		ofFormats = append(ofFormats, format+"=")
	}
	for _, flag := range []string{"margin", "ceiling", "floor"} {
		f.Offer(flag, ofNumbers...)
	}
	f.Offer("advisory", numbers...)
	f.Offer("despite", append([]string{"model", "seed"}, compare.Known...)...)
	f.Offer("write", ofFormats...)
	f.OfferFiles("gate", "yaml", "yml")
	f.OfferFiles("baseline", "json")
	f.OfferFiles("save-baseline", "json")
}

// readGate is the default gate, changed by the file and then by the flags.
func readGate(file string, settings []func(*compare.Gate) error) (compare.Gate, error) {
	gate := compare.DefaultGate()
	if file != "" {
		f, err := argv.OpenYAML(file)
		if err != nil {
			return gate, fmt.Errorf("argument --gate: %w", err)
		}
		defer f.Close()
		root, err := argv.ReadYAML(file, f)
		switch {
		case err != nil:
			return gate, err
		case root == nil:
			return gate, fmt.Errorf("%s: it is empty", file)
		}
		if err := gate.UnmarshalYAML(root); err != nil {
			return gate, fmt.Errorf("%s:%s", file, strings.TrimPrefix(err.Error(), "line "))
		}
	}
	for _, set := range settings {
		if err := set(&gate); err != nil {
			return gate, err // although each was tried when its flag was read
		}
	}
	flags := emptyForm().flags
	for _, name := range gate.Despite {
		if !slices.Contains(compare.Known, name) && flags.Lookup(name) == nil {
			return gate, fmt.Errorf("argument --despite: %s: it takes %s, and flags of servebench run, such as model or seed", pyjson.Quote(name), strings.Join(compare.Known, ", "))
		}
	}
	return gate, nil
}
