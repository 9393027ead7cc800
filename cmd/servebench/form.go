package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A form is a command line as it is being filled in: the options that a flag
// sets as it stands, and beside them what has to be looked at together.
type form struct {
	options

	host           string
	port           int
	baseURL        *string
	headers        []string
	rampUpStrategy *string
	rampUpStart    *int
	rampUpEnd      *int
	readyCheck     int // seconds
	inputLen       *int
	outputLen      *int
	rangeRatio     string
	selfTimed      *bool
	extraBody      pyjson.Object
	topP           *float64
	topK           *int
	minP           *float64
	frequency      *float64
	presence       *float64
	repetition     *float64
	goodput        []string
	metadata       []string
	metrics        string
	percentiles    string
	targets        []string
	repeat         *int

	metricsInterval *time.Duration
	replicas        []string // of --server-metrics; not nil where that was given
}

// parseRun turns the command line of `servebench run` into options. The command
// line of `servebench dataset` is the same. pflag.ErrHelp asks for the help.
func parseRun(args []string) (*options, error) {
	f, t := newForm()
	if err := t.parse(args); err != nil {
		return nil, err
	}
	if err := f.resolve(t); err != nil {
		return nil, err
	}
	if err := f.resolveExperiment(args); err != nil {
		return nil, err
	}
	return &f.options, nil
}

// resolve looks at what has to be looked at together.
func (f *form) resolve(t table) error {
	// What was kept is sent again whole.
	if prompts := t.lookup("--num-prompts"); f.Workload.Dataset == "file" && !prompts.given {
		f.Workload.NumPrompts, prompts.fallback = 0, "0"
	}
	for _, resolve := range []func() error{
		f.resolveServer, f.resolveSecrets, f.resolveTraffic, f.resolveWorkload, f.resolveTimes, f.resolveDatasets, f.resolveSampling, f.resolveWatch, f.resolveResults,
	} {
		if err := resolve(); err != nil {
			return err
		}
	}
	if err := f.resolveShape(t.lookup("--num-prompts")); err != nil {
		return err
	}
	f.Flags = t.record()
	return f.resolvePyTorch(t)
}

// newForm is an empty form with the table that fills it; the defaults are in.
func newForm() (*form, table) {
	f := &form{}
	f.Workload.Shuffle, f.Workload.Oversample = true, true
	t := table{
		{"Server and protocol", f.serverFlags()},
		{"Traffic", f.trafficFlags()},
		{"Workload", f.workloadFlags()},
		{"Single datasets", f.datasetFlags()},
		{"Sampling", f.samplingFlags()},
		{"Several runs", f.experimentFlags()},
		{"Many machines", f.shardFlags()},
		{"Watching", f.watchFlags()},
		{"Results", f.resultFlags()},
		{"Time limits, in seconds or as 90s, 5m, 6h; 0 for none", f.limitFlags()},
		{"Other", otherFlags()},
		{"Flags of vllm bench serve that are refused", refusedFlags()},
	}
	for fl := range t.all() {
		if fl.fallback == "" || fl.missing != "" {
			continue
		}
		if err := fl.check([]string{fl.fallback}); err != nil {
			panic("the default of --" + fl.name + ": " + err.Error())
		}
	}
	return f, t
}

func otherFlags() []*flag {
	return []*flag{
		{name: "config", meta: "FILE", ours: true, set: nothing,
			help: "YAML file whose keys are flag names; the command line wins over it"},
		{name: "help", short: "h", args: none, help: "show this help",
			set: func(string) error { return pflag.ErrHelp }},
	}
}

// nothing is the setter of a flag that is read elsewhere, or has no effect.
func nothing(string) error { return nil }

func (f *form) limitFlags() []*flag {
	limit := func(name, fallback string, to *time.Duration, help string) *flag {
		return &flag{name: name, meta: "TIME", fallback: fallback, ours: true, set: into(to, parseSeconds), help: help}
	}
	return []*flag{
		limit("connect-timeout", "60", &f.Limits.Connect, "for opening a connection, TLS included"),
		limit("first-byte-timeout", "0", &f.Limits.FirstByte, "from sending a request to the first byte of its answer"),
		limit("stall-timeout", "300", &f.Limits.Stall, "between two pieces of a streamed answer"),
		limit("total-timeout", "21600", &f.Limits.Total, "for one request from start to end"),
		limit("drain-limit", "0", &f.Limits.Tail, "for requests in flight once the last was sent"),
		limit("deadline", "0", &f.Limits.Deadline, "for the run from when the clock starts; one that is cut short exits with 1"),
		limit("drain-timeout", "30", &f.Limits.Drain, "for requests in flight when the run is interrupted"),
	}
}
