package advice

import "github.com/servebench/servebench/loadgen/naming"

// Spelling has the flag of servebench run that sets each setting which messages of package loadgen name. Nobody may
// change it.
var Spelling = naming.Spelling{
	naming.Abort: "--abort-on-failures",

	naming.Backend:       "--backend",
	naming.Endpoint:      "--endpoint",
	naming.Model:         "--model",
	naming.Tokenizer:     "--tokenizer",
	naming.SkipTokenizer: "--skip-tokenizer-init",

	naming.Dataset:      "--dataset-name",
	naming.Path:         "--dataset-path",
	naming.NumPrompts:   "--num-prompts",
	naming.TokenIDs:     "--prompt-token-ids",
	naming.VocabSize:    "--vocab-size",
	naming.SkipTemplate: "--skip-chat-template",
	naming.Adapters:     "--lora-modules",
	naming.From:         "--trace-from",
	naming.To:           "--trace-to",
	naming.GapCap:       "--trace-gap-cap",

	naming.MaxConcurrency: "--max-concurrency",
	naming.Curve:          "--rate-curve",
	naming.Duration:       "--duration",
	naming.WarmUp:         "--warmup-duration",
	naming.Warm:           "--warm-connections",
	naming.ProbeRate:      "--probe-request-rate",
	naming.SleepFirst:     "--sleep-first",

	naming.ExtraBody: "--extra-body",

	naming.FirstByte: "--first-byte-timeout",
	naming.Deadline:  "--deadline",

	naming.ServerMetrics: "--server-metrics",
	naming.GPU:           "--gpu-metrics",
	naming.Pool:          "--kvcached-metrics",

	naming.Shard:   "--shard",
	naming.StartAt: "--start-at",
	naming.RunID:   "--run-id",
}
