package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// parsePercentiles reads the value of --metric-percentiles.
func parsePercentiles(text string) ([]float64, error) {
	var percentiles []float64
	for part := range strings.SplitSeq(text, ",") {
		p, err := argv.ParseFloat(part)
		if err == nil && !(p >= 0 && p <= 100) {
			err = fmt.Errorf("%s: a percentile must be from 0 to 100", metrics.FormatFloat(p))
		}
		if err != nil {
			return nil, err
		}
		percentiles = append(percentiles, p)
	}
	return percentiles, nil
}

// parseGoodput reads the values of --goodput. Of two limits on the same latency
// the later one counts.
func parseGoodput(args []string) ([]metrics.SLO, error) {
	var slos []metrics.SLO
	for _, arg := range args {
		slo, err := parseSLO(arg)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(slos, func(s metrics.SLO) bool { return s.Metric == slo.Metric }); i >= 0 {
			slos[i] = slo
			continue
		}
		slos = append(slos, slo)
	}
	return slos, nil
}

// parseSLO reads one limit. Errors are worded as vLLM's.
func parseSLO(arg string) (slo metrics.SLO, err error) {
	name, text, _ := strings.Cut(arg, ":")
	limit, err := argv.ParseFloat(text)
	shown := metrics.FormatFloat(limit)
	switch {
	case err != nil:
		return slo, errors.New("Invalid format found for service level objectives. Specify service level objectives for goodput as " +
			`"KEY:VALUE" pairs, where the key is a metric name, and the value is a number in milliseconds. (` + pyjson.Quote(arg) + ")")
	case !slices.Contains([]string{"ttft", "tpot", "e2el"}, name):
		return slo, errors.New("Invalid metric name found, " + name + ": " + shown +
			". The service level objective name should be one of ['ttft', 'tpot', 'e2el'].")
	case !(limit >= 0):
		return slo, errors.New("Invalid value found, " + name + ": " + shown + ". The service level objective value should be non-negative.")
	}
	return metrics.SLO{Metric: name, Limit: limit}, nil
}
