package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/progress"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/loadgen/sweep/draft"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// flags reads the loads of a sweep.
func (c *sweepCommand) flags() *sweep.Flags {
	f := &sweep.Flags{Words: sweepWords, Load: c.read, Sequential: c.sequential}
	if c.instead.simulate {
		f.Simulate = simulatedServers
	}
	return f
}

// read reads the command line of a load. varied are the flags that vary.
func (c *sweepCommand) read(args, varied []string) (*sweep.Load, error) {
	o, err := parseRun(args)
	if err == nil && o.Stats {
		err = errors.New("argument --stats: it belongs to servebench dataset")
	}
	if err == nil && o.Targets != nil {
		err = checkVaried(varied, args)
	}
	if err != nil {
		return nil, err
	}
	parts, version := &o.Results.Parts, o.Results.VLLMVersion
	load := &sweep.Load{
		Plan: o.plan(), Version: version, Requests: parts.Any(), Strict: o.Results.Strict,
		Run: func(ctx context.Context, job *sweep.Job) (*sweep.Outcome, error) { return c.load(ctx, o, job) },
		Block: func(w io.Writer, s *metrics.Summary) error {
			parts.Cut(io.Discard, s) // its warnings are in the log
			return errors.Join(vllm.Failures(w, s, version), vllm.Block(w, s, version), parts.Show(w, s, version))
		},
	}
	for _, target := range o.all() {
		if r := &target.Results; (r.Save || r.Plots.Any()) && !r.Append && r.Filename != "" {
			load.Files = append(load.Files, r.Path(r.Filename))
		}
	}
	return load, nil
}

// load makes one run of a sweep, as servebench run does.
func (c *sweepCommand) load(ctx context.Context, o *options, job *sweep.Job) (*sweep.Outcome, error) {
	e := newExperiment(o, job.Log, job.Log)
	e.exported, e.arm = c.exported, job.Arm
	if !o.Results.NoProgress {
		e.screen = progress.NewTalk(c.talk)
	}
	e.withheld = true
	e.note(e.asked.Notes)
	e.warn(e.asked.Warnings)
	err := errors.Join(e.load(ctx, job.Plan), e.unwritten)
	// To a search the failures of a run that was aborted are an answer.
	if _, stopped := errors.AsType[loadgen.AbortError](err); err != nil && !(stopped && c.plan.Search != nil) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := &sweep.Outcome{Counted: func() error { return writeAll(e) }}
	for _, r := range e.done {
		if err := failure(r); err != nil && c.plan.Search == nil {
			return out, err
		}
		out.Sums = append(out.Sums, r.Summary)
	}
	return out, nil
}

// writeAll writes the files of all runs once they count, so that no file is about a run that does
// not.
func writeAll(e *experiment) error {
	var errs []error
	for _, r := range e.done {
		errs = append(errs, e.results(r).Write(r.Summary))
	}
	return errors.Join(errs...)
}

// holdCommas are flags whose one value may have commas.
var holdCommas = []string{"percentile-metrics", "metric-percentiles", "timeline-itl-thresholds", "drop-body",
	"rate-curve", "gpu-metrics",
	"random-mm-limit-mm-per-prompt", "random-mm-bucket-config", "bfcl-categories"}

// listFlags are the same flags, for the help.
const listFlags = "--percentile-metrics, --metric-percentiles,\n--timeline-itl-thresholds, --drop-body, " +
	"--rate-curve, --gpu-metrics,\n--random-mm-limit-mm-per-prompt, --random-mm-bucket-config,\n--bfcl-categories"

// sweepOptions are the flags that were passed to a sweep, with their values as show formats them.
// As in run, the last occurrence of a flag counts, or all add up.
func sweepOptions(f *argv.Flags, show func(name, value string) string) []draft.Option {
	var options []draft.Option
	for _, s := range f.Passed() {
		o := draft.Option{Flag: s.Flag.Name, Values: slices.Clone(s.Values)}
		switch arity := s.Arity(); {
		case arity == argv.None, arity == argv.Bare && len(o.Values) == 0:
			o.Values = []string{"true"}
		case arity != argv.One:
			o.Words = true
		case !slices.Contains(holdCommas, o.Flag) && !isJSON(o.Values[0]):
			o.Values = strings.Split(o.Values[0], ",")
		}
		for i, value := range o.Values { // after the split: several URLs are not one
			o.Values[i] = show(o.Flag, value)
		}
		if i := slices.IndexFunc(options, func(before draft.Option) bool { return before.Flag == o.Flag }); i >= 0 {
			if s.Arity() == argv.Gathered {
				o.Values = slices.Concat(options[i].Values, o.Values)
			}
			options = slices.Delete(options, i, i+1)
		}
		options = append(options, o)
	}
	return options
}

// isJSON reports whether a text is an object or an array in JSON.
func isJSON(text string) bool {
	return strings.IndexAny(strings.TrimSpace(text), "{[") == 0 && json.Valid([]byte(text))
}

// notInSweep says why a sweep does not take some flags of run, and what to do instead.
var notInSweep = map[string]string{
	"record-to": "a sweep writes one record stream for all runs, into its folder",
	"compress":  "a sweep adds to its records, so they stay plain",
	"hlog":      "each run would overwrite it",
	"repeat":    "use repeats, next to load",
	"config":    "put the flags into the file of the sweep, under load",
	"help":      "it is not a flag of a load",

	"shard": notMany, "start-at": notMany, "run-id": notMany, "clock-offset": notMany,

	"metrics-addr": "give it to servebench sweep itself, for all runs",
}

// notMany is why a sweep has no flags for many machines.
const notMany = "a sweep runs on one machine"

// sweepWords turns an entry of the file into the words of a command line, and checks it.
func sweepWords(name string, value *yaml.Node) (flag string, args []string, err error) {
	f := emptyForm().flags
	flag = strings.TrimPrefix(argv.Dashed("--"+name), "--")
	if found := f.Find("--" + flag); len(found) == 1 {
		flag = found[0].Name
	}
	if why := notInSweep[flag]; why != "" {
		return "", nil, fmt.Errorf("%s: %s", flag, why)
	}
	if args, err = f.Entry(name, value); err != nil {
		return "", nil, err
	}
	if err := f.Parse(sweep.AnyPorts(args...)); err != nil {
		return "", nil, err
	}
	// All points and repeats would share it.
	if own := havingOwn(f, "seed"); own != nil {
		return "", nil, fmt.Errorf("argument --target: %s: seed: each repeat and load needs another seed", own[0])
	}
	return flag, args, nil
}

// checkVaried refuses to vary flags that a target of the command line sets itself.
func checkVaried(flags, args []string) error {
	f := emptyForm().flags
	if err := f.Parse(args); err != nil {
		return err
	}
	for _, flag := range flags {
		if len(havingOwn(f, flag)) == len(f.Given("target")) {
			return fmt.Errorf("argument --%s: each target sets it itself, so it has no effect", flag)
		}
	}
	return nil
}

// havingOwn are the names of the targets that set a flag themselves. What is wrong
// with a target is an error of the whole command line.
func havingOwn(f *argv.Flags, flag string) (names []string) {
	for _, text := range f.Given("target") {
		if target, err := parseTarget(text); err == nil && target.has(f, flag) {
			names = append(names, target.name)
		}
	}
	return names
}

// findable makes the commands of a file find this program as servebench, also if it is not in PATH.
func findable() error {
	if _, err := exec.LookPath("servebench"); err == nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Setenv("PATH", strings.TrimPrefix(os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(self),
		string(filepath.ListSeparator)))
}

// vllmSweep are the flags of `vllm bench sweep serve`.
type vllmSweep struct {
	serve, bench, after      string // commands
	serveParams, benchParams string // files
	links                    string
	runs, within, warmups    int
}

func (v *vllmSweep) define(f *argv.Flags) {
	f.StringVar(&v.serve, "serve-cmd", "", "`COMMAND` command that starts the server, as for vllm bench sweep serve")
	f.StringVar(&v.bench, "bench-cmd", "", "`COMMAND` load of --serve-cmd: vllm bench serve, or servebench run, with "+
		"its flags")
	f.StringVar(&v.after, "after-bench-cmd", "",
		"`COMMAND` command before each run, in place of resetting the prefix cache of vLLM")
	f.StringVar(&v.serveParams, "serve-params", "",
		"`FILE` JSON file with combinations of parameters for --serve-cmd: a list of objects, or objects by their names")
	f.StringVar(&v.benchParams, "bench-params", "", "`FILE` JSON file with combinations of parameters for --bench-cmd")
	f.StringVar(&v.links, "link-vars", "", "`A=B,…` run only combinations in which parameter A of the server equals "+
		"parameter B of the load")
	f.IntVar(&v.runs, "num-runs", 3, "`N` runs of each combination of --serve-params and --bench-params")
	f.IntVar(&v.within, "server-ready-timeout", 300, "`SECONDS` limit for the start of --serve-cmd")
	f.IntVar(&v.warmups, "warmup-num-prompts", 0, "`N` requests before each run of --bench-cmd, which do not count")
	f.OfferFiles("serve-params", "json")
	f.OfferFiles("bench-params", "json")
}

// asked reports whether the command line has commands in place of a file or flags.
func (v *vllmSweep) asked() bool {
	return v.serve+v.bench+v.after+v.serveParams+v.benchParams+v.links != ""
}

// document is the file of the experiment.
func (v *vllmSweep) document() ([]byte, error) {
	switch {
	case v.serve == "":
		return nil, errors.New("argument --serve-cmd: it must be there, with --bench-cmd: the command that starts the server")
	case v.bench == "":
		return nil, errors.New("argument --bench-cmd: it must be there, with --serve-cmd: vllm bench serve with its flags")
	case v.runs < 1:
		return nil, fmt.Errorf("argument --num-runs: %d: it must be at least 1", v.runs)
	case v.within < 1:
		return nil, fmt.Errorf("argument --server-ready-timeout: %d: it must be at least 1", v.within)
	case v.warmups < 0:
		return nil, fmt.Errorf("argument --warmup-num-prompts: %d: it must not be negative", v.warmups)
	}
	p := draft.Parameters{After: v.after, Runs: v.runs, Within: fmt.Sprintf("%ds", v.within), Warmups: v.warmups}
	var err error
	if p.Serve, err = commandWords("serve-cmd", v.serve); err != nil {
		return nil, err
	}
	if p.Bench, err = benchOptions(v.bench); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		flag, name string
		to         *[]draft.Combination
	}{{"serve-params", v.serveParams, &p.ServeParams}, {"bench-params", v.benchParams, &p.BenchParams}} {
		if *file.to = []draft.Combination{{}}; file.name == "" {
			continue
		}
		text, err := os.ReadFile(file.name)
		if err == nil {
			*file.to, err = draft.ReadCombinations(string(pyjson.StrictText(text)))
		}
		if err != nil {
			return nil, fmt.Errorf("argument --%s: %s: %w", file.flag, file.name, err)
		}
	}
	if v.links != "" {
		for pair := range strings.SplitSeq(v.links, ",") {
			a, b, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, fmt.Errorf("argument --link-vars: %s: it must be a parameter of the server, = and one of the load",
					pyjson.Quote(pair))
			}
			p.Links = append(p.Links, [2]string{strings.TrimSpace(a), strings.TrimSpace(b)})
		}
	}
	return p.Document()
}

// commandWords are the words of a command, as a shell splits it.
func commandWords(flag, command string) ([]string, error) {
	words, err := shellquote.Split(command)
	if err == nil && len(words) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("argument --%s: %w", flag, err)
	}
	return words, nil
}

// benchOptions are the flags of a load's command, each with one value.
func benchOptions(command string) ([]draft.Option, error) {
	words, err := commandWords("bench-cmd", command)
	if err != nil {
		return nil, err
	}
	start := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") })
	if start < 0 {
		start = len(words)
	}
	if verb := strings.Join(words[max(0, start-2):start], " "); !strings.HasSuffix(verb, "bench serve") &&
		!strings.HasSuffix(verb, "servebench run") {
		return nil, fmt.Errorf("argument --bench-cmd: %s: it must be vllm bench serve, or servebench run, with its flags",
			pyjson.Quote(command))
	}
	f := argv.New(pflag.NewFlagSet("bench-cmd", pflag.ContinueOnError))
	f.Other = emptyForm().flags
	if err := f.Parse(words[start:]); err != nil {
		return nil, fmt.Errorf("argument --bench-cmd: %w", err)
	}
	options := sweepOptions(f, func(_, value string) string { return value })
	for i := range options {
		if o := &options[i]; !o.Words {
			o.Values = []string{strings.Join(o.Values, ",")}
		}
	}
	return options, nil
}
