package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/dry"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/elastic"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/gpupower"
	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// simOptions are the flags of servebench sim.
type simOptions struct {
	server    sim.Config // what each server is
	host      string
	port      string
	socket    string
	tokenizer string
	ready     string
	profile   string
	servers   int
	log       string    // FILE of --request-log
	sms       []float64 // of each server; nil without --sm-percent
	pool      elastic.Model
	given     func(flag string) bool
}

func newSimCommand() *cobra.Command {
	var o simOptions
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve the OpenAI API with a simulated vLLM",
		Long: `Serve the OpenAI API as vLLM does, with a simulated engine and random words.

Once the server accepts connections, it prints "listening on URL" on stdout.
Ctrl-C ends it. --servers starts several on one simulated GPU, each at another
port, which slow each other as the profile says. Without a profile they share
time: while one other is busy, a step takes twice as long. With --kv-pool they
lend each other memory for KV cache. Both are models, as is --enable-sleep-mode:
docs/measured/profiles.md has their rules. None was measured on a GPU.

--fault makes the server misbehave, as in --fault stall=3,crlf: in all
requests, or in some with --fault-probability or --fault-every. The header
` + faults.Header + ` of a request chooses its faults; "none" means none. The faults:

` + faults.Help(),
		Example: `  # A server for trying servebench
  servebench sim

  # A server as it was measured, at any free port
  servebench sim --profile mps-solo --port 0

  # Every tenth answer breaks off
  servebench sim --fault cut --fault-every 10`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			cfg, err := o.config()
			if err != nil {
				return err
			}
			ports, err := o.ports()
			if err != nil {
				return err
			}
			site := sim.Site{Host: o.host, Ports: ports, Socket: o.socket, ReadyFile: o.ready}
			return o.serve(ctx, cfg, site, cmd.OutOrStdout())
		},
	}
	o.define(argv.Of(cmd))
	return cmd
}

// serve serves until ctx ends, with the log if there is to be one.
func (o *simOptions) serve(ctx context.Context, cfg sim.Config, site sim.Site, out io.Writer) (err error) {
	if o.log != "" {
		file, err := os.Create(o.log)
		if err != nil {
			return exitError{fmt.Errorf("argument --request-log: %w", err), exitNo}
		}
		log := spans.NewLog(file)
		cfg.Log = log.Add
		defer func() { err = errors.Join(err, closed(errors.Join(log.Err(), file.Close()))) }()
	}
	servers, err := sim.Several(cfg, o.servers, o.sms)
	if err != nil {
		return err
	}
	return closed(sim.Serve(ctx, servers, site, out))
}

func (o *simOptions) define(f *argv.Flags) {
	o.given = f.Changed
	s, usual := &o.server, speed.DefaultCost()
	f.Group("Addresses: where it listens", func(f *argv.Flags) {
		f.StringVar(&o.host, "host", "127.0.0.1", "`HOST` address to listen on")
		f.StringVar(&o.port, "port", "8000", "`PORT` port to listen on; 0 takes a free one. With --servers it is the "+
			"first port, or a list as 8100,8101")
		f.StringVar(&o.socket, "uds", "", "`PATH` Unix socket to listen on, instead of a port")
		f.IntVar(&o.servers, "servers", 1, "`N` number of servers that share one GPU. Each has its own port and slows the "+
			"others while it works")
		f.Var(argv.Parsed(&o.sms, "", speed.ParseSMs), "sm-percent",
			"`LIST` most of the GPU's SMs that each server may use, in percent, as CUDA_MPS_ACTIVE_THREAD_PERCENTAGE caps "+
				"them: 100,50. It is a model, which takes the place of what a profile says of neighbours")
		f.StringVar(&o.log, "request-log", "", "`FILE` file to write a line of JSON to for each complete answer. It has "+
			"when the server received, queued and scheduled the request, and when its tokens came")
		f.StringVar(&o.ready, "ready-file", "", "`FILE` file to write the URL of each server to, one per line, once they "+
			"accept connections")
	})
	f.Group("Model: what it serves", func(f *argv.Flags) {
		f.StringVar(&s.Model, "model", "stub-32000", "`NAME` name of the model, as root in /v1/models")
		f.StringVar(&s.ServedModelName, "served-model-name", "", "`NAME` name of the model in the API (default --model)")
		f.ListVar(&s.Adapters, "lora-modules", argv.Some,
			"`NAME` names of LoRA adapters. They answer as the model does, and as fast")
		f.StringVar(&o.tokenizer, "tokenizer", "", "`PATH` stub-N for N made-up words, or a tokenizer.json or its folder "+
			"(default --model)")
		f.IntVar(&s.Limits.ModelLen, "max-model-len", 32768, "`TOKENS` most tokens of a prompt and its output together")
		f.IntVar(&s.Limits.NumSeqs, "max-num-seqs", 256, "`N` most requests in a batch. Others wait")
		f.IntVar(&s.Limits.NumBatchedTokens, "max-num-batched-tokens", 2048,
			"`TOKENS` most tokens in a step. Longer prompts are prefilled in chunks")
		f.IntVar(&s.Answers.MeanLen, "mean-output-len", 128,
			"`TOKENS` mean output length of requests without ignore_eos. max_tokens still limits it")
		f.Uint64Var(&s.Seed, "seed", 0, "`N` seed of text, output lengths, jitter and faults")
	})
	f.Group("Steps: how fast it is", func(f *argv.Flags) {
		f.StringVar(&o.profile, "profile", "", "`NAME` behave as a server that was measured: a name or a YAML file. The "+
			"names are "+strings.Join(speed.Names(), ", "))
		f.DurationVar(&s.Cost.Base, "step-base", usual.Base, "`TIME` time of each step, as 5ms")
		f.DurationVar(&s.Cost.PerSequence, "step-per-sequence", usual.PerSequence,
			"`TIME` time to add for each request that gets a token in the step")
		f.DurationVar(&s.Cost.PerPromptToken, "step-per-prompt-token", usual.PerPromptToken,
			"`TIME` time to add for each prompt token prefilled in the step")
		f.DurationVar(&s.FrontEnd, "front-end", 0, "`TIME` time from the arrival of a request until the engine gets it, "+
			"as 2ms")
		f.Var(argv.Parsed(&s.Slow, "", spans.Parse), "slow",
			"`LIST` time to add to spans of each request, as queue=5ms,network=2ms. The spans are "+
				strings.Join(spans.Names, ", ")+". The steps stay as they are")
		f.Float64Var(&s.Jitter, "jitter", 0.02, "`X` spread of step times: the standard deviation of their logarithm")
	})
	f.Group("Power: what its GPU takes", func(f *argv.Flags) {
		f.Var(argv.Parsed(&s.Device.Board, "", gpupower.Parse), "gpu-power",
			"`W,W` report power and energy at /metrics, as a DCGM exporter does, of a model: W without requests, W with "+
				"some, as 90,650")
	})
	f.Offer("profile", speed.Names()...)
	f.Group("Engine: cache and speculation", func(f *argv.Flags) {
		f.IntVar(&s.Cache.Blocks, "num-gpu-blocks-override", 0,
			"`N` size of the KV cache, in blocks of 16 tokens; 0 means no limit. Requests are preempted when it is full")
		f.BoolVar(&s.Cache.Prefixes, "enable-prefix-caching", false,
			"prefill a common prefix once. POST /reset_prefix_cache empties the cache")
		f.BoolVar(&s.Answers.CachedTokens, "enable-prompt-tokens-details", false,
			"let usage say how many prompt tokens were found in the cache, if any were")
		f.BoolVar(&s.Answers.Timings, "enable-per-request-metrics", false,
			"let answers say how long the engine took, as vLLM does. A stream says it with its usage")
		f.Var(argv.Parsed(&o.pool, "", elastic.Parse), "kv-pool",
			"`LIST` share the memory of the KV cache between --servers, page by page, as kvcached does, by a model. The list "+
				"has "+elastic.Help)
		f.ListVar(&s.Pool.Files, "kv-pool-files", argv.Some,
			"`PATH` files in which the servers publish what they hold, as kvcached does in /dev/shm; one for each of --servers")
		f.BoolVar(&s.SleepMode.On, "enable-sleep-mode", false,
			"have vLLM's /sleep, /wake_up and /is_sleeping, by a model. Requests wait until the server is awake")
		f.Var(argv.Parsed(&s.SleepMode.Times, "", sleep.Parse), "sleep-times",
			"`LIST` times of the calls of --enable-sleep-mode (default sleep=2.2s,weights=100ms,kv-cache=20ms,reload=1s)")
		f.IntVar(&s.Speculative.Tokens, "num-speculative-tokens", 0,
			"`N` tokens to draft in each decoding step; 0 means no speculation")
		f.Float64Var(&s.Speculative.Acceptance, "speculative-acceptance", 0.7,
			"`P` chance that a draft token is accepted, if those before it were")
		f.StringVar(&s.Answers.Lead.Field, "lead", "", "`FIELD` start chat answers with this field: reasoning_content, "+
			"reasoning or tool_calls")
		f.IntVar(&s.Answers.Lead.Tokens, "lead-tokens", 0, "`N` number of tokens in the field of --lead")
	})
	f.Group("Faults: how it misbehaves", func(f *argv.Flags) {
		f.Var(argv.Parsed(&s.Faults.List, "", faults.Parse), "fault",
			"`LIST` faults to inject, with commas between, of those listed above")
		f.Float64Var(&s.Faults.Probability, "fault-probability", 0, "`P` chance of a request to meet --fault, from 0 to 1")
		f.IntVar(&s.Faults.Every, "fault-every", 0, "`N` let every Nth request meet --fault")
	})
	f.OfferList("fault", faults.Names()...)
}

func (o *simOptions) config() (cfg sim.Config, err error) {
	if o.server.Faults.List == nil && (o.server.Faults.Probability != 0 || o.server.Faults.Every != 0) {
		return cfg, fmt.Errorf("--fault-probability and --fault-every need --fault")
	}
	if o.servers < 1 || o.servers > 1 && o.socket != "" {
		return cfg, fmt.Errorf("--servers must be 1 or more, and 1 with --uds")
	}
	name := o.tokenizer
	if name == "" {
		name = o.server.Model
	}
	if len(o.sms) == 1 {
		o.sms = slices.Repeat(o.sms, o.servers)
	}
	if o.sms != nil && len(o.sms) != o.servers {
		return cfg, fmt.Errorf("argument --sm-percent: it must be one percentage, or as many as --servers (%d)", o.servers)
	}
	words, err := tokenizer.Open(name)
	if err != nil {
		return cfg, fmt.Errorf("argument --tokenizer: %w", err)
	}
	cfg = o.server
	cfg.Tokenizer = words
	if o.pool != (elastic.Model{}) {
		cfg.Pool.Memory = elastic.NewMemory(o.pool)
	}
	switch {
	case o.given("sleep-times") && !o.given("enable-sleep-mode"):
		return cfg, errors.New("argument --sleep-times: it takes --enable-sleep-mode")
	case !o.given("sleep-times"):
		cfg.SleepMode.Times = sleep.Usual()
	}
	if l := cfg.Limits; l.ModelLen == 0 || l.NumSeqs == 0 || l.NumBatchedTokens == 0 || cfg.Answers.MeanLen == 0 {
		return cfg, fmt.Errorf("--max-model-len, --max-num-seqs, --max-num-batched-tokens and --mean-output-len must be 1 " +
			"or more")
	}
	if o.profile != "" {
		if err := o.imitate(&cfg); err != nil {
			return cfg, err
		}
	} else if cfg.Cost == (speed.Cost{}) {
		cfg.Cost.Base = 1 // zero was given, not the default
	}
	return cfg, nil
}

// simulatedServers are the servers that a command servebench sim would start.
func simulatedServers(command []string) (dry.Servers, error) {
	var o simOptions
	f := argv.Of(&cobra.Command{Use: "sim"})
	o.define(f)
	if err := f.Parse(command[2:]); err != nil {
		return nil, err
	}
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	ports, err := o.ports()
	return dry.Of(cfg, ports, o.sms), err
}

// imitate applies the profile to the flags that were not given.
func (o *simOptions) imitate(cfg *sim.Config) (err error) {
	for _, flag := range []string{"step-base", "step-per-sequence", "step-per-prompt-token", "front-end", "jitter"} {
		if o.given(flag) {
			return fmt.Errorf("argument --%s: the profile says it", flag)
		}
	}
	cfg.Cost, cfg.FrontEnd, cfg.Jitter = speed.Cost{}, 0, 0
	for flag, size := range map[string]*int{
		"max-num-seqs": &cfg.Limits.NumSeqs, "max-num-batched-tokens": &cfg.Limits.NumBatchedTokens,
		"max-model-len": &cfg.Limits.ModelLen,
	} {
		if !o.given(flag) {
			*size = 0
		}
	}
	if cfg.Profile, err = speed.Open(o.profile); err != nil {
		return fmt.Errorf("argument --profile: %w", err)
	}
	return nil
}

// ports are the ports of the servers: as listed, or consecutive ones unless the given one is 0.
func (o *simOptions) ports() (ports []int, err error) {
	for text := range strings.SplitSeq(o.port, ",") {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("argument --port: %q: it must be a port from 0 to 65535, or one for each of --servers, as "+
				"8100,8101", o.port)
		}
		ports = append(ports, int(port))
	}
	if len(ports) == 1 {
		for i := 1; i < o.servers; i++ {
			next := ports[0]
			if next != 0 {
				next += i
			}
			ports = append(ports, next)
		}
	}
	if len(ports) != o.servers {
		return nil, fmt.Errorf("argument --port: %q: it must be one port, or as many as --servers (%d)", o.port, o.servers)
	}
	return ports, nil
}
