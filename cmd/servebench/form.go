package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/upstream"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/metrics"
)

// A form is a command line of run or dataset while it is being parsed.
type form struct {
	*options
	flags    *argv.Flags
	sections []section
	several  *experimentFlags
}

// A section is the flags under one heading of the help.
type section struct {
	title string
	group
}

// A group defines flags that set the options, or its own fields.
type group interface{ define(*argv.Flags) }

// A resolver is a group whose flags must be checked together after they are set.
type resolver interface{ resolve(*argv.Flags) error }

// loadCommand makes a verb that takes the flags of `vllm bench serve`. Its short help
// shows the common ones.
func loadCommand(cmd *cobra.Command, do func(context.Context, *options) error, common []string) *cobra.Command {
	var f *form
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.Plan.Server.Backend == listBackends {
			return api.List(cmd.OutOrStdout())
		}
		o, err := f.fill()
		if err != nil {
			return err
		}
		argv.Hide(o.Plan.Server.Secrets.Texts())
		return do(cmd.Context(), o)
	}
	f = newForm(argv.Of(cmd))
	f.flags.Common(common...)
	return cmd
}

// parseRun turns the command line of `servebench run` into options. The command
// line of `servebench dataset` is the same. pflag.ErrHelp asks for the help.
func parseRun(args []string) (*options, error) {
	f := emptyForm()
	if err := f.flags.Parse(args); err != nil {
		return nil, err
	}
	return f.fill()
}

// emptyForm is a form without a command.
func emptyForm() *form { return newForm(argv.New(pflag.NewFlagSet("run", pflag.ContinueOnError))) }

// newForm is a form with its defaults, which the flags fill in.
func newForm(flags *argv.Flags) *form {
	o := &options{Plan: loadgen.Plan{Program: loadgen.Program{Spelling: advice.Spelling}}}
	several := &experimentFlags{options: o}
	f := &form{options: o, flags: flags, several: several, sections: []section{
		{"Server: where requests go, and by which API", &serverFlags{options: o}},
		{"Traffic: when requests are sent", &trafficFlags{options: o}},
		{"Workload: what is sent", &workloadFlags{options: o}},
		{"Datasets: flags of single datasets", &datasetFlags{options: o}},
		{"Media: prompts with images and sounds", &mediaFlags{o}},
		{"Hub: datasets of Hugging Face", &hubFlags{options: o}},
		{"Sessions: conversations, agents and traces", &sessionFlags{options: o}},
		{"Conversations: flags of the Rust client of vLLM", &multiTurnFlags{options: o}},
		{"Synthetic: the sessions of --dataset-name sessions", &syntheticFlags{o}},
		{"Sampling: what the model is asked for", &samplingFlags{options: o}},
		{"Adapters: which LoRA adapter each request asks for", &adapterFlags{options: o}},
		{"Targets: several servers and repeats", several},
		{"Shards: one run on many machines", &shardFlags{o}},
		{"Monitoring: what is sampled during the run", &watchFlags{options: o}},
		{"Results: what is reported, and where it goes", &resultFlags{options: o}},
		{"Limits: times in seconds or as 90s, 5m, 6h; 0 means no limit", &limitFlags{o}},
		{"Other: configuration and help", otherFlags{}},
	}}
	for _, s := range f.sections {
		flags.Group(s.title, s.define)
	}
	flags.Instead = insteadFlags
	flags.First = vllmFlags
	return f
}

// vllmFlags are the names of vLLM's flags, including removed ones.
func vllmFlags() []string {
	return append(upstream.Flags(), "help", "sonnet-input-len", "sonnet-output-len", "sonnet-prefix-len")
}

// fill turns the flags into options.
func (f *form) fill() (*options, error) {
	if err := f.resolve(); err != nil {
		return nil, err
	}
	if err := f.several.readTargets(f.flags); err != nil {
		return nil, err
	}
	return f.options, nil
}

// resolve turns all flags into options, except those for several runs.
func (f *form) resolve() error {
	for _, s := range f.sections {
		if g, ok := s.group.(resolver); ok {
			if err := g.resolve(f.flags); err != nil {
				return err
			}
		}
	}
	if err := f.resolveShape(); err != nil {
		return err
	}
	for name, value := range f.flags.Values() {
		f.Plan.Flags = append(f.Plan.Flags, metrics.KV{Key: name, Value: value})
	}
	return f.resolvePyTorch()
}

// resolveShape checks the load's rate, its duration and its prompts together.
func (f *form) resolveShape() error {
	t, prompts := &f.Plan.Traffic, f.flags.Lookup("num-prompts")
	t.Counted = prompts.Changed
	atOnce := f.Plan.Traffic.AtOnce(&f.Plan.Workload)
	unbounded := atOnce && t.MaxConcurrency == nil && t.MaxSessions == nil
	switch {
	case t.Curve != nil && f.Plan.Workload.SelfTimed:
		return fmt.Errorf("argument --rate-curve: the %s dataset has its own times: also give --no-self-timed",
			f.Plan.Workload.Dataset)
	case t.Curve != nil && t.Curve.End() == 0 && t.Duration == 0 && !t.Counted:
		return errors.New("argument --rate-curve: a sine has no end: also give --duration or --num-prompts")
	case t.Duration > 0 && unbounded && !t.Counted:
		return errors.New("argument --duration: at an infinite rate it bounds nothing: also give --request-rate, " +
			"--max-concurrency, --max-sessions or --num-prompts")
	case t.WarmUp > 0 && f.Plan.Workload.SelfTimed:
		return fmt.Errorf("argument --warmup-duration: the %s dataset has its own times, and none before them: also give "+
			"--no-self-timed", f.Plan.Workload.Dataset)
	case t.WarmUp > 0 && unbounded:
		return errors.New("argument --warmup-duration: at an infinite rate there would be no end of requests: give " +
			"--request-rate, --max-concurrency or --max-sessions, too")
	case !f.Plan.Traffic.Timed(&f.Plan.Workload):
		return nil
	}
	prompts.DefValue = "" // its default does not apply
	sized, err := f.Plan.Sized()
	if err == nil {
		f.Plan = *sized
	}
	return err
}

// pyTorchVariable, if not empty, makes vLLM's client write a second result file, in the format of
// PyTorch's benchmarks.
const pyTorchVariable = "SAVE_TO_PYTORCH_BENCHMARK_FORMAT"

// resolvePyTorch stores the arguments for the PyTorch file, if there is to be one.
func (f *form) resolvePyTorch() error {
	if os.Getenv(pyTorchVariable) == "" || !f.Results.Save && !f.Results.Append {
		return nil
	}
	args, err := upstream.Namespace(func(name string) (words []string, ok bool) {
		return f.flags.Shown(name), f.flags.Changed(name)
	})
	if err != nil {
		return err
	}
	f.Results.PyTorch = args.With("ignore_eos", f.Plan.Sampling.IgnoreEOS).With("self_timed", f.Plan.Workload.SelfTimed)
	return nil
}

// limitFlags are the flags for time limits.
type limitFlags struct{ *options }

func (g *limitFlags) define(f *argv.Flags) {
	l := &g.Plan.Limits
	f.Var(argv.Parsed(&l.Connect, "60", argv.ParseSeconds), "connect-timeout",
		"`TIME` limit for opening a connection, with TLS")
	f.Var(argv.Parsed(&l.FirstByte, "0", argv.ParseSeconds), "first-byte-timeout",
		"`TIME` limit from sending a request to the first byte of its answer")
	f.Var(argv.Parsed(&l.Stall, "300", argv.ParseSeconds), "stall-timeout", "`TIME` limit between two pieces of an answer")
	f.Var(argv.Parsed(&l.Total, "21600", argv.ParseSeconds), "total-timeout",
		"`TIME` limit for one request, from start to end")
	f.Var(argv.Parsed(&l.Tail, "0", argv.ParseSeconds), "drain-limit",
		"`TIME` limit for requests in flight after the last was sent")
	f.Var(argv.Parsed(&l.Deadline, "0", argv.ParseSeconds), "deadline",
		"`TIME` limit for the whole run. A run that it cuts short ends with exit code 1")
	f.Var(argv.Parsed(&l.Drain, "30", argv.ParseSeconds), "drain-timeout",
		"`TIME` limit for requests in flight after Ctrl-C")
}

// otherFlags are the flags that set no options.
type otherFlags struct{}

func (otherFlags) define(f *argv.Flags) {
	f.ConfigFile("config", "`FILE` YAML file whose keys are flag names. Flags of the command line replace its values")
	f.BoolP("help", "h", false, "show this help")
	f.OfferFiles("config", "yaml", "yml")
}

// Values that vLLM accepts and servebench does not. They are refused by name.
var (
	unbuiltBackends = []string{
		"tgi", "lmdeploy", "deepspeed-mii", "tensorrt-llm", "scalellm", "sglang", "llama.cpp",
	}
	unbuiltDatasets = []string{"custom_mm", "txt-slices"}
)

// insteadFlags are flags of older releases of vLLM and of other load generators, with what to use
// instead.
var insteadFlags = map[string]string{
	"--api-key":                   "set the environment variable " + advice.KeyVariable,
	"--qps":                       "use --request-rate",
	"--rate":                      "use --request-rate",
	"--rps":                       "use --request-rate",
	"--requests":                  "use --num-prompts",
	"-n":                          "use --num-prompts",
	"-c":                          "use --max-concurrency",
	"--concurrency":               "use --max-concurrency for requests in flight, and --max-sessions for sessions",
	"--users":                     "use --max-concurrency",
	"--stream":                    "answers are streamed unless --extra-body '{\"stream\": false}' says otherwise",
	"--streaming":                 "answers are streamed unless --extra-body '{\"stream\": false}' says otherwise",
	"--best-of":                   "vLLM dropped it",
	"--common-prefix-len":         "use --random-prefix-len",
	"--custom-skip-chat-template": "use --skip-chat-template",
	"--dataset":                   "use --dataset-name and --dataset-path",
	"--endpoint-type":             "use --backend",
	"--output-dir":                "use -o DIR",
	"--experiment-name":           "use -o DIR, which names the folder of the experiment",
	"--resume":                    "the same command continues where it was",
	"--continue-on-error":         "a sweep always continues",
	"--show-stdout":               "the folder has what the servers print",

	"--replay-speedup":               "use --trace-speed",
	"--mooncake-slowdown-factor":     "use --trace-speed, which is 1 over it",
	"--inter-turn-delay-cap-seconds": "use --trace-gap-cap",
	"--ignore-trace-delays":          "use --trace-gap-cap 1ns",
	"--isl-block-size":               "use --trace-block-size",
	"--fixed-schedule":               "traces with times are sent at these times; --no-self-timed sends them otherwise",
	"--no-fixed-schedule":            "use --no-self-timed",
	"--fixed-schedule-start-offset":  "use --trace-from",
	"--fixed-schedule-end-offset":    "use --trace-to",
	"--custom-dataset-type":          "use --dataset-name, which also takes auto",
	"--input-file":                   "use --dataset-path",
	"--conversation-num":             "use --num-prompts, which counts sessions",
	"--num-sessions":                 "use --num-prompts, which counts sessions",
	"--num-conversations":            "use --num-prompts, which counts sessions",
	"--conversation-turn-mean":       "use --session-turns",
	"--session-turns-mean":           "use --session-turns",
	"--conversation-turn-delay-mean": "use --session-think-time",
	"--session-turn-delay-mean":      "use --session-think-time",
	"--num-clients":                  "use --max-concurrency for requests in flight, and --max-sessions for sessions",
	"--max-active-conversations":     "use --max-sessions",
	"--gsp-num-groups":               "use --session-systems",
	"--gsp-num-turns":                "use --session-turns",
	"--gsp-system-prompt-len":        "use --session-system-len",
}
