package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/verdict"
)

// namedFlag finds the flags that a text names, each with its value if that is there.
var namedFlag = regexp.MustCompile(`--([a-z][a-z0-9-]+)(?:[ =]([^\s;)]+))?`)

// ofOthers are flags that texts name and that servebench run does not have: a server's, as the text says,
// and those of other verbs.
var ofOthers = map[string]string{
	"max-model-len of the server": "vLLM's", "enable-sleep-mode": "vLLM's", "profiler-config": "vLLM's",
	"query-gpu": "nvidia-smi's", "query-compute-apps": "nvidia-smi's", "format": "nvidia-smi's", "id": "nvidia-smi's", "rr": "chrt's",
	"gpu-power": "servebench sim's",
}

// Every flag that a text of a run names is one of servebench run.
func TestTextsNameFlagsThatAreThere(t *testing.T) {
	flags := emptyForm().flags
	for _, dir := range []string{"metrics/trust", "loadgen", "loadgen/host", "loadgen/openai", "loadgen/wire", "loadgen/api/exchange", "loadgen/api/request"} {
		files, err := filepath.Glob("../../" + dir + "/*.go")
		if err != nil || files == nil {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, text := range literals(t, file) {
				for _, named := range namedFlag.FindAllStringSubmatch(text, -1) {
					name := strings.TrimRight(named[1], "-")
					if flags.Lookup(name) == nil && ofOthers[name] == "" {
						t.Errorf("%s: no verb has --%s: %q", file, name, text)
					}
				}
			}
		}
	}
}

// literals are the texts in a file of Go.
func literals(t *testing.T, file string) (all []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return true
	})
	return all
}

// sampleValues are values for the flags that remedies name without one. A switch has none.
var sampleValues = map[string]string{
	"max-model-len": "2048", "max-concurrency": "64", "max-sessions": "64", "multi-turn-concurrency": "64", "seed": "7", "shard": "0/2",
	"run-id": "x", "target": "c=http://c,server-metrics=http://r", "start-at": "2026-11-22T02:15:00Z", "tokenizer": "stub-100", "trace-speed": "0.5", "random-input-len": "16", "random-output-len": "4",
	"output-len": "4", "model": "m", "ca-cert": "ca.pem", "client-cert": "c.pem", "client-key": "k.pem",
	"ignore-eos": "", "warm-connections": "", "extended": "", "continuous-usage-stats": "", "insecure": "", "http2": "", "base-url": "http://other",
}

// alternative separates what a text proposes instead of each other.
var alternative = regexp.MustCompile(`; |, or | or |: has `)

// accepted fails the test unless the command line takes the flags that the text names, those of each
// alternative together.
func accepted(t *testing.T, line, text string) {
	t.Helper()
	if strings.Contains(text, " of the server") || strings.HasPrefix(text, "sessions waited for") || strings.HasPrefix(text, "nobody verified") {
		return // it names a flag of the server's, or one that was given
	}
	for _, part := range alternative.Split(text, -1) {
		words := append(strings.Fields(line), proposed(t, line, part)...)
		o, err := parseRun(words)
		if err == nil {
			_, err = o.join(func(string) string { return "" })
		}
		if err != nil {
			t.Errorf("servebench run %s: the remedy %q is refused: %v", line, text, err)
		}
	}
}

// runFlags are the flags of servebench run, to look them up.
var runFlags = sync.OnceValue(func() *argv.Flags { return emptyForm().flags })

// proposed are the flags that a text proposes, with values.
func proposed(t *testing.T, line, text string) (words []string) {
	t.Helper()
	for _, named := range namedFlag.FindAllStringSubmatch(text, -1) {
		name, value := named[1], strings.TrimRight(named[2], ",:.")
		if strings.Contains(text, "leave --"+name) || strings.Contains(text, "without --"+name) || strings.Contains(text, "API of --"+name) {
			continue
		}
		sample, known := sampleValues[name]
		if name == "endpoint" && value == "" {
			_, path, _ := strings.Cut(line, "--endpoint ")
			value, _, _ = strings.Cut("/other"+path, " ") // each API has its end
		}
		if known && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "http") {
			value = sample
		}
		switch flag := runFlags().Lookup(name); {
		case flag == nil:
			t.Errorf("%q names --%s, which is no flag", text, name)
		case value != "":
			words = append(words, "--"+name, value)
		case known:
			words = append(words, "--"+name)
		default:
			t.Errorf("%q names --%s: what is a value for it?", text, name)
		}
	}
	return words
}

// commandLines are runs of all kinds. The files need not be there: nothing opens them.
var commandLines = []string{
	"", "--max-concurrency 8 --request-rate 5", "--prompt-token-ids", "--random-batch-size 4", "--repeat 3", "--unix-socket /run/s", "--insecure",
	"--target a=http://a --target b=http://b --solo-first", "--target a=http://a --target b=http://b --pairs",
	"--continuous-usage-stats", "--drop-body stream_options", `--extra-body {"stream_options":{"continuous_usage_stats":true}}`, `--extra-body {"stream":false}`,
	"--duration 10 --request-rate 5", "--warm-connections --http2", "--shard 0/2 --run-id x",
	"--multi-turn", "--multi-turn --max-sessions 4", "--multi-turn --multi-turn-concurrency 4", "--multi-turn --dataset-name sharegpt --dataset-path x",
	"--dataset-name sharegpt --dataset-path x", "--dataset-name custom --dataset-path x.jsonl --skip-tokenizer-init", "--dataset-name burstgpt --dataset-path x.csv",
	"--dataset-name timed_trace --dataset-path x", "--dataset-name spec_bench --dataset-path x", "--dataset-name prefix_repetition", "--dataset-name sonnet --dataset-path x",
	"--dataset-name sessions", "--dataset-name sessions --max-sessions 4", "--dataset-name conversations --dataset-path x", "--dataset-name weka --dataset-path x",
	"--dataset-name mooncake --dataset-path x --trace-timing absolute --trace-speed 2", "--dataset-name file --dataset-path x",
	"--backend openai-chat --endpoint /v1/chat/completions", "--backend openai-responses --endpoint /v1/responses", "--backend anthropic --endpoint /v1/messages",
	"--backend openai-chat --endpoint /v1/chat/completions --chat-content string", "--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm",
	"--backend openai-chat --endpoint /v1/chat/completions --dataset-name sharegpt --dataset-path x --enable-multimodal-chat",
	"--backend openai-chat --endpoint /v1/chat/completions --dataset-name custom_image --dataset-path x.jsonl",
	"--backend openai-embeddings --endpoint /v1/embeddings", "--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank",
	"--backend openai-audio --endpoint /v1/audio/transcriptions --dataset-name custom_audio --dataset-path x.jsonl",
}

// meetings are what runs met, so that every check about flags fails, and every note about them is there.
var meetings = map[string]func(s *metrics.Summary){
	"an overflow": func(s *metrics.Summary) {
		s.Failed, failures.Of(s).Classes = 100, map[record.Class]*failures.Failing{record.Overflow: {Requests: 100}}
	},
	"vanished gaps": func(s *metrics.Summary) {
		sessions.Give(s, &sessions.Sessions{Begun: 9, Completed: 9, Later: sessions.LaterTurns{Gaps: 10, Vanished: 10}})
	},
	"a drift": func(s *metrics.Summary) {
		of := &sessions.Sessions{Begun: 9, Completed: 9}
		sessions.Give(s, of)
		of.Later.InDrift.Add(0.9)
		s.Truth.LaterTurns = true
		s.Failed, failures.Of(s).Classes = 100, map[record.Class]*failures.Failing{record.Overflow: {Requests: 100}}
	},
	"no places": func(s *metrics.Summary) {
		sessions.Give(s, &sessions.Sessions{Begun: 9, Completed: 9, Parts: sessions.JobParts{SessionSlots: time.Hour}})
		pace.Of(s).Pace = pace.Pace{Due: time.Second, Sent: time.Hour, Requests: 9, Queue: time.Hour}
	},
	"no slots": func(s *metrics.Summary) {
		pace.Of(s).Pace = pace.Pace{Due: time.Second, Sent: time.Hour, Requests: 9, Queue: time.Hour}
	},
	"no counts": func(s *metrics.Summary) { *metrics.View[counts.Counts](s) = counts.Counts{Of: 100, Nobody: 100} },
	"an early chunk": func(s *metrics.Summary) {
		*metrics.View[delivery.Delivery](s) = delivery.Delivery{Content: 9, Early: 9, Ahead: time.Hour}
	},
	"no connections": func(s *metrics.Summary) { s.Evidence.Connections.Exhausted = 7 },
	"connecting": func(s *metrics.Summary) {
		*metrics.View[connecting.Connecting](s) = connecting.Connecting{Requests: 9, Of: 9, Connect: time.Hour}
	},
	"a known prompt": func(s *metrics.Summary) { s.Evidence.Server.PrefixHits, s.Evidence.Server.PrefixQueries = 1000, 1000 },
	"a busy client": func(s *metrics.Summary) {
		s.Evidence.CPU.Busiest, s.Evidence.CPU.Used, s.Evidence.CPU.Cores = 1, 10*time.Second, 1
	},
	"a slow start":    func(s *metrics.Summary) { since.Of(s).UndelayedTTFT = metrics.Distribution{}; undelay(s) },
	"several servers": func(s *metrics.Summary) { s.Evidence.Server.Mixed = "its counts went back" },
	"several tokens":  func(s *metrics.Summary) { tokens.Of(s).Counts = tokens.Counts{Bundled: 9, Chunks: 9, Tokens: 90} },
	"shards that lag": func(s *metrics.Summary) {
		s.Source.Shards = &metrics.Shards{Of: 2, Sound: 2, Late: &metrics.Window{To: time.Hour}, Last: "b"}
	},
	"a short context": func(s *metrics.Summary) {
		*metrics.View[lengths.Lengths](s) = lengths.Lengths{Of: 9, Short: 9, Reasons: map[string]int{"length": 9}}
	},
	"insecure answers": func(s *metrics.Summary) { s.Evidence.Connections.Unverified = true },
}

// undelay has our own delay make the whole TTFT.
func undelay(s *metrics.Summary) {
	for range s.TTFT.Len() {
		since.Of(s).UndelayedTTFT.Add(0)
	}
}

// met is the verdict on a run of the command line that met something.
func met(o *options, meet func(*metrics.Summary)) *verdict.Trust {
	h := &metrics.Header{Config: o.Plan.Config(), Flags: o.Plan.Flags}
	if o.Targets != nil {
		h.Target = o.Targets[0].Plan.Target
	}
	c := aspect.Collector(h)
	for i := range 100 {
		r := &record.Record{Index: i, Times: record.Times{Sent: time.Duration(i) * 10 * time.Millisecond, FirstContent: 1}, Tokens: record.Tokens{Out: 2}}
		r.Answer.Chunks.Append(r.Times.Sent + 50*time.Millisecond)
		r.Answer.Chunks.Append(r.Times.Sent + 60*time.Millisecond)
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	s := c.Summary(2)
	s.Evidence = &evidence.Evidence{CPU: evidence.CPU{Cores: 2, Watched: 10 * time.Second, Used: time.Second}, Stamps: evidence.Stamps{Kernel: 200}}
	meet(s)
	trust.Judge(s)
	return s.Trust
}

// Every remedy and note that names a flag is accepted together with the flags of the run.
func TestRemediesGoWithTheCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	seen := map[string]bool{}
	for _, line := range commandLines {
		o, checked := mustParse(t, line), map[string]bool{}
		for name, meet := range meetings {
			if name == "shards that lag" && !strings.Contains(line, "--shard") {
				continue
			}
			verdict := met(o, meet)
			texts := append(verdict.Notes, verdict.Warnings...)
			for _, c := range verdict.Failed() {
				texts = append(texts, c.Remedy)
			}
			for _, text := range texts {
				for _, named := range namedFlag.FindAllStringSubmatch(text, -1) {
					seen[named[1]] = true
				}
				if !checked[text] {
					accepted(t, line, text)
				}
				checked[text] = true
			}
		}
	}
	for _, name := range []string{"max-model-len", "random-input-len", "trace-timing", "ignore-eos", "max-sessions", "multi-turn-concurrency", "max-concurrency", "tokenizer",
		"extended", "warm-connections", "seed", "shard", "server-metrics", "continuous-usage-stats", "start-at"} {
		if !seen[name] {
			t.Errorf("no meeting brought a remedy with --%s", name)
		}
	}
}

// Advice on what servers and networks say is accepted, too.
func TestAdviceGoesWithTheCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, line := range commandLines {
		o := mustParse(t, line)
		for _, message := range []string{
			"404 Not Found: nothing here", "405 Method Not Allowed", "400 Bad Request: messages: field required", "422 Unprocessable Entity: prompt is required",
			"400 Bad Request: maximum context length is 2048 tokens", "401 Unauthorized", "403 Forbidden", "tls: failed to verify certificate", "remote error: tls: certificate required",
			"the server speaks only HTTP/2", "the connection is not HTTP/2", "400 Bad Request: messages.content must be a string",
			"422 Unprocessable Entity: ignore_eos; repetition_penalty; logprobs; stream_options are unknown", "400 Bad Request: prompt must be a string",
		} {
			for _, ids := range []bool{false, o.Plan.Workload.TokenIDs} {
				a := advice.Adviser{Plan: &o.Plan, TokenIDs: ids}
				accepted(t, line, a.About(message))
			}
		}
	}
}
