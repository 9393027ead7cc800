package kinds

import (
	"math"
	"strings"

	"github.com/servebench/servebench/dataset/draw"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/multimodal"
	"github.com/servebench/servebench/dataset/sessions"
)

// Flags takes the flags of datasets. A usage begins with the name of the argument, in backquotes.
type Flags interface {
	BoolVar(to *bool, name string, usual bool, usage string)
	IntVar(to *int, name string, usual int, usage string)
	Float64Var(to *float64, name string, usual float64, usage string)
	StringVar(to *string, name, usual, usage string)
	// GivenInt and GivenFloat leave *to as it is unless the flag is given, and OptionalInt leaves it nil.
	GivenInt(to *int, name, usage string)
	GivenFloat(to *float64, name, usage string)
	OptionalInt(to **int, name, usage string)
	// ParsedVar has set read the argument, and the default unless that is empty.
	ParsedVar(set func(text string) error, name, usual, usage string)
	// Choices are the only arguments of a flag, and Offer some of them.
	Choices(name string, words ...string)
	Offer(name string, words ...string)
}

// The headings of the help under which kinds have their flags.
const (
	Workload  = "Workload"
	Datasets  = "Datasets"
	Media     = "Media"
	Hub       = "Hub"
	Synthetic = "Synthetic"
)

// Define defines the flags under a heading, which set s.
func Define(heading string, f Flags, s *Settings) {
	for _, k := range all {
		if k.Heading == heading {
			k.Flags(f, s)
		}
	}
}

func flagsRandom(f Flags, s *Settings) {
	f.IntVar(&s.Random.InputLen, "random-input-len", 1024,
		"`TOKENS` prompt length of random and random-mm, without the prefix. For random-rerank it is of the query and one "+
			"document together")
	f.IntVar(&s.Random.OutputLen, "random-output-len", 128, "`TOKENS` output length of random and random-mm")
	f.StringVar(&s.RangeRatio, "random-range-ratio", "0.0",
		"`RATIO` how much lengths of random, random-mm and random-rerank vary, from 0 to below 1. 0.2 draws from 80 % to "+
			"120 %; {\"input\":R,\"output\":R} sets both apart")
	f.IntVar(&s.Random.PrefixLen, "random-prefix-len", 0,
		"`TOKENS` length of a prefix that all prompts of random or random-mm share")
	f.IntVar(&s.BatchSize, "random-batch-size", 1,
		"`N` prompts of random, or documents of random-rerank, in one request. Embeddings and rerankers take several")
}

func flagsRerank(f Flags, s *Settings) {
	f.BoolVar(&s.NoReranker, "no-reranker", false,
		"make random-rerank for a model of embeddings. The query is then one of the prompts of a request, each of "+
			"--random-input-len")
}

func flagsShareGPT(f Flags, s *Settings) {
	f.OptionalInt(&s.ShareGPTLen, "sharegpt-output-len",
		"`TOKENS` output length of sharegpt (default the recorded length)")
}

func flagsCustom(f Flags, s *Settings) {
	f.IntVar(&s.Custom.OutputLen, "custom-output-len", 256,
		"`TOKENS` output length of custom, custom_image and custom_audio. -1 takes output_tokens of each row; "+
			"custom_image sends it")
}

func flagsPrefixes(f Flags, s *Settings) {
	p := &s.PrefixRepetition
	f.IntVar(&p.PrefixLen, "prefix-repetition-prefix-len", 256, "`TOKENS` length of each prefix of prefix_repetition")
	f.IntVar(&p.SuffixLen, "prefix-repetition-suffix-len", 256,
		"`TOKENS` length of what follows the prefix in prefix_repetition")
	f.IntVar(&p.NumPrefixes, "prefix-repetition-num-prefixes", 10, "`N` number of prefixes of prefix_repetition")
	f.IntVar(&p.OutputLen, "prefix-repetition-output-len", 128, "`TOKENS` output length of prefix_repetition")
}

func flagsSonnet(f Flags, s *Settings) {
	d := &s.Sonnet
	f.IntVar(&d.InputLen, "sonnet-input-len", 550,
		"`TOKENS` approximate prompt length of sonnet. vLLM dropped this dataset in 0.32.0")
	f.IntVar(&d.OutputLen, "sonnet-output-len", 150, "`TOKENS` output length of sonnet")
	f.IntVar(&d.PrefixLen, "sonnet-prefix-len", 200,
		"`TOKENS` approximate length of the prefix that all prompts of sonnet share")
}

func flagsSpecBench(f Flags, s *Settings) {
	f.IntVar(&s.SpecBench.OutputLen, "spec-bench-output-len", 256, "`TOKENS` output length of spec_bench")
	f.StringVar(&s.SpecBench.Category, "spec-bench-category", "",
		"`NAME` take only this category of spec_bench (default all)")
}

func flagsSpeedBench(f Flags, s *Settings) {
	d := &s.SpeedBench
	f.StringVar(&d.Subset, "speed-bench-dataset-subset", "qualitative", "`NAME` file of speed_bench to take")
	f.IntVar(&d.OutputLen, "speed-bench-output-len", 4096, "`TOKENS` output length of speed_bench")
	f.StringVar(&d.Category, "speed-bench-category", "", "`NAME` take only this category of speed_bench (default all)")
	f.Choices("speed-bench-dataset-subset", "qualitative", "throughput_1k", "throughput_2k", "throughput_8k",
		"throughput_16k", "throughput_32k")
}

func flagsTimedTrace(f Flags, s *Settings) {
	d := &s.TimedTrace
	f.IntVar(&d.ChunkSize, "timed-trace-chunk-hash-size", 16,
		"`TOKENS` tokens that each hash id of timed_trace stands for")
	f.Float64Var(&d.Multiplier, "timed-trace-sec-multiplier", 1,
		"`SECONDS` length of the unit of the timestamps of timed_trace")
	f.StringVar(&d.Labels.Timestamp, "timed-trace-label-timestamp", "timestamp",
		"`NAME` field of timed_trace with the timestamp")
	f.StringVar(&d.Labels.InputLength, "timed-trace-label-input-length", "input_length",
		"`NAME` field of timed_trace with the prompt length")
	f.StringVar(&d.Labels.OutputLength, "timed-trace-label-output-length", "output_length",
		"`NAME` field of timed_trace with the output length")
	f.StringVar(&d.Labels.HashIDs, "timed-trace-label-hash-ids", "hash_ids",
		"`NAME` field of timed_trace with the hash ids")
}

func flagsCustomImage(f Flags, s *Settings) {
	f.BoolVar(&s.CustomImage.Inline, "custom-ensure-client-side-data", false,
		"send the images of custom_image themselves, as PNG, instead of their URLs. They are read before the run")
}

func flagsRandomMM(f Flags, s *Settings) {
	d := &s.RandomMM
	f.IntVar(&d.Media.Items, "random-mm-base-items-per-request", 1, "`N` images of each request of random-mm")
	f.Float64Var(&d.Media.Ratio, "random-mm-num-mm-items-range-ratio", 0,
		"`RATIO` how much the number of images varies, from 0 to 1. 0.5 draws from 50 % to 150 %")
	f.ParsedVar(parsed(&d.Media.Limits, multimodal.ParseLimits), "random-mm-limit-mm-per-prompt", `{"image": 255, "video": 1}`,
		"`JSON` how many media of each kind a request has at most")
	f.ParsedVar(parsed(&d.Media.Buckets, multimodal.ParseBuckets), "random-mm-bucket-config",
		`{"(256, 256, 1)": 0.5, "(720, 1280, 1)": 0.5, "(720, 1280, 16)": 0.0}`,
		"`DICT` sizes of the images of random-mm, as {(HEIGHT, WIDTH, FRAMES): WEIGHT}. More than one frame is a video, "+
			"which must have the weight 0")
}

// parsed sets *to by a function that reads it.
func parsed[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

func flagsHF(f Flags, s *Settings) {
	d := &s.HF
	f.StringVar(&d.Name, "hf-name", "", "`REPOSITORY` the repository whose form the rows have, if --dataset-path is a "+
		"folder or a file")
	f.StringVar(&d.Rows.Subset, "hf-subset", "", "`NAME` configuration of the repository (default as in vLLM: main for "+
		"openai/gsm8k)")
	f.StringVar(&d.Rows.Split, "hf-split", "", "`NAME` split of the repository (default as in vLLM: mostly train, or "+
		"test)")
	f.OptionalInt(&d.OutputLen, "hf-output-len",
		"`TOKENS` output length of hf (default a length that vLLM sets for the repository, or the recorded length)")
	f.BoolVar(&d.Rows.NoStream, "no-stream", false, "shuffle all rows of hf at once, and not as a stream. The order is "+
		"then another from 1,000 rows on")
	f.Float64Var(&d.Edits.Min, "blazedit-min-distance", 0,
		"`RATIO` take edits of vdaita/edit_5k_char and edit_10k_char that change at least this share of the code")
	f.Float64Var(&d.Edits.Max, "blazedit-max-distance", 1,
		"`RATIO` take edits that change at most this share of the code")
	f.Float64Var(&d.Speech.Min, "asr-min-audio-len-sec", 0, "`SECONDS` take speech of hf that lasts at least as long")
	f.Float64Var(&d.Speech.Max, "asr-max-audio-len-sec", math.Inf(1),
		"`SECONDS` take speech that lasts at most as long. 0 is no limit")
	f.ParsedVar(func(text string) error {
		d.Categories = nil
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				d.Categories = append(d.Categories, name)
			}
		}
		return nil
	}, "bfcl-categories", "", "`NAMES` categories of "+hf.BFCL+", with commas (default simple,live_simple,multiple)")
	f.Offer("hf-name", hf.Repositories()...)
}

func flagsSynthetic(f Flags, s *Settings) {
	d := &s.Synthetic
	*d = sessions.Synthetic{System: sessions.SystemPrompts{Kinds: 1}, Shape: sessions.Shape{Growth: 1}}
	dist := func(to *draw.Dist, name, usual, usage string) {
		*to, _ = draw.ParseDist(usual)
		f.ParsedVar(parsed(to, draw.ParseDist), name, "", "`DIST` "+usage+" (default "+usual+")")
	}
	dist(&d.Turns, "session-turns", "5", "turns of a session. all DIST are numbers, or distributions such as "+
		"uniform:min=1,max=9 and lognormal:mean=500,sigma=0.6")
	dist(&d.Shape.First, "session-first-len", "512", "tokens of a session's first prompt, without the system prompt")
	dist(&d.Shape.Input, "session-input-len", "128", "tokens that each later turn adds")
	f.GivenFloat(&d.Shape.Growth, "session-growth",
		"`X` factor by which each later turn adds more than the one before (default 1)")
	dist(&d.Shape.Output, "session-output-len", "128", "output length of each turn")
	dist(&d.Shape.Gap, "session-think-time", "0", "seconds from an answer to the next turn")
	f.GivenInt(&d.System.Kinds, "session-systems",
		"`N` number of system prompts that sessions share; 0 means none (default 1)")
	dist(&d.System.Tokens, "session-system-len", "256", "tokens of each system prompt")
	f.GivenFloat(&d.System.Bias, "session-system-bias",
		"`X` how much likelier the first system prompts are: number k is k^X times rarer than the first (default 0)")
	f.GivenFloat(&d.Agents.Share, "session-agent-share",
		"`RATIO` share of turns that start sub-agents, which the next turn waits for (default 0)")
	dist(&d.Agents.Number, "session-agents", "2", "sub-agents that such a turn starts")
	dist(&d.Agents.Turns, "session-agent-turns", "3", "turns of a sub-agent")
	dist(&d.Agents.Gap, "session-tool-time", "1",
		"seconds that a tool takes: before the turns of sub-agents, and after them")
}
