package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim/elastic"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/gpupower"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/loadgen/sim/words"
)

// A Config says what to simulate. Only Tokenizer is needed; the zero value of every other field
// means the default in its comment.
type Config struct {
	Model           string              // the model's root; "stub-32000" when empty
	ServedModelName string              // its name in the API; Model when empty
	Adapters        []string            // names of LoRA adapters, which answer as the model does
	Tokenizer       tokenizer.Tokenizer // counts the tokens of prompts and makes the text

	Cost   speed.Cost // the time of a step; speed.DefaultCost() when zero
	Jitter float64    // standard deviation of the logarithm of each step's factor; 0 for none
	Seed   uint64     // of jitter, stalls, spells, text, output lengths and faults

	// FrontEnd is the time from a request's arrival until the engine gets it.
	FrontEnd time.Duration

	// Profile, if not nil, describes the server instead of Cost, Jitter and FrontEnd, which must be
	// zero. It also sets sizes that are zero here. It must not change any more.
	Profile *speed.Profile

	Device Device // the GPU
	Limits Limits // of the batch and of requests
	Cache  Cache  // of keys and values
	Pool   Pool   // the memory of the cache, shared with other servers; none when zero

	Speculative steps.Speculative // decode several tokens a step; off when zero
	Answers     Answers           // what they have in them
	SleepMode   SleepMode         // calls that put the server to sleep; none when zero
	Faults      faults.Plan       // how to misbehave; not at all when zero
	Slow        spans.Added       // time added to each request; Dry adds none

	// Log, if not nil, is called by a request's handler when its answer is complete. It must be safe for
	// concurrent use.
	Log func(spans.Request)

	// Trace, if not nil, is called by the engine when a request leaves it. It must not block.
	Trace func(steps.Trace)
}

// A Device is the GPU on which a server runs.
type Device struct {
	GPU *speed.GPU // shared with other servers; nil for a separate GPU
	// SMs is the most that the server may use of the GPU, as a part of it; 0 for Profile.SMs.Share.
	SMs float64

	// Board is the power of the GPU, which /metrics then reports as a DCGM exporter does; nil for none.
	Board *gpupower.Board
}

// Limits bound the batch and the requests. Zero means the default in the comment.
type Limits struct {
	NumSeqs          int // requests in the batch at most; 256
	NumBatchedTokens int // tokens in a step at most; 2048
	ModelLen         int // prompt and output tokens of a request at most; 32768
}

// A Cache is the KV cache of a server.
type Cache struct {
	Blocks int // of 16 tokens; 0 for no limit

	// Prefixes prefills only what no earlier prompt and output began with, in blocks of 16 tokens.
	Prefixes bool
}

// A Pool is memory for the KV caches of several servers.
type Pool struct {
	// Memory, if not nil, has the memory of the KV cache in pages, for all servers that name it, and
	// Cache.Blocks is all of it when zero.
	Memory *elastic.Memory

	// Files are the files in which the servers publish what they hold, as kvcached does: New takes the
	// first, Several one for each; none without files.
	Files []string

	// Log is called with each state of the pool; it must not block.
	Log func(elastic.State)
}

// open is the server's part of the memory; nil if it shares none.
func (p *Pool) open() (*elastic.Pool, error) {
	if p.Memory == nil {
		return nil, nil
	}
	file := ""
	if len(p.Files) > 0 {
		file = p.Files[0]
	}
	return p.Memory.Open(file, p.Log)
}

// Answers say what answers have in them.
type Answers struct {
	MeanLen int  // mean output length if nothing else ends the answer; 128 when zero
	Lead    Lead // beginning of chat output; plain content when zero

	// CachedTokens lets usage say how many prompt tokens were found in the cache. Like vLLM, it says
	// nothing if there were none.
	CachedTokens bool

	// Timings lets the last chunk with usage, and an answer that is not streamed, say how long the
	// engine took. The names are vLLM's.
	Timings bool
}

func (a *Answers) check() error {
	fields := []string{"reasoning_content", "reasoning", "tool_calls"}
	if lead := a.Lead; lead != (Lead{}) && (lead.Tokens < 0 || !slices.Contains(fields, lead.Field)) {
		return fmt.Errorf("chat output cannot begin with %d tokens of %q: the field may be %s", lead.Tokens, lead.Field,
			strings.Join(fields, ", "))
	}
	return nil
}

// SleepMode adds vLLM's calls that put the server to sleep and wake it up, which take Times.
type SleepMode struct {
	On    bool
	Times sleep.Times
}

// A Lead says that a chat answer begins with tokens that are not content. A chunk with tokens of
// both kinds is of the kind of its first token.
type Lead struct {
	Field  string // reasoning_content, reasoning or tool_calls
	Tokens int
}

func (c Config) complete() (Config, error) {
	if c.Tokenizer == nil {
		return c, fmt.Errorf("a simulated server needs a tokenizer")
	}
	if c.Tokenizer.VocabSize() <= len(c.Tokenizer.SpecialIDs()) {
		return c, fmt.Errorf("the tokenizer has no ordinary tokens")
	}
	c.Model = cmp.Or(c.Model, "stub-32000")
	c.ServedModelName = cmp.Or(c.ServedModelName, c.Model)
	if c.Profile == nil {
		c.Cost = cmp.Or(c.Cost, speed.DefaultCost())
		c.Profile = &speed.Profile{FrontEnd: c.FrontEnd, Step: speed.StepTime{Cost: c.Cost, Jitter: c.Jitter}}
	} else if c.Cost != (speed.Cost{}) || c.Jitter != 0 || c.FrontEnd != 0 {
		return c, fmt.Errorf("a profile says what a step and the front end take: cost, jitter and front end must not say " +
			"it, too")
	}
	if c.Device.SMs != 0 {
		profile := *c.Profile
		profile.SMs.Share, c.Profile = c.Device.SMs, &profile
	}
	c.Limits.NumSeqs = cmp.Or(c.Limits.NumSeqs, c.Profile.MaxNumSeqs, 256)
	c.Limits.NumBatchedTokens = cmp.Or(c.Limits.NumBatchedTokens, c.Profile.MaxNumBatchedTokens, 2048)
	c.Limits.ModelLen = cmp.Or(c.Limits.ModelLen, c.Profile.MaxModelLen, 32768)
	c.Answers.MeanLen = cmp.Or(c.Answers.MeanLen, 128)
	if c.Pool.Memory != nil {
		c.Cache.Blocks = cmp.Or(c.Cache.Blocks, c.Pool.Memory.Pages*c.Pool.Memory.Blocks)
	}
	return c, c.check()
}

func (c *Config) check() error {
	switch {
	case c.Limits.NumSeqs < 1, c.Limits.NumBatchedTokens < 1, c.Limits.ModelLen < 2, c.Answers.MeanLen < 1:
		return fmt.Errorf("sizes must be positive, and the model length 2 or more")
	case c.Limits.NumBatchedTokens < c.Limits.NumSeqs*(1+c.Speculative.Tokens):
		return fmt.Errorf("max-num-batched-tokens (%d) must hold one decoding step of max-num-seqs (%d) requests, %d "+
			"tokens each",
			c.Limits.NumBatchedTokens, c.Limits.NumSeqs, 1+c.Speculative.Tokens)
	case c.Cache.Blocks < 0, c.Cache.Blocks > 0 &&
		c.Cache.Blocks*kvcache.BlockSize < c.Limits.ModelLen+c.Speculative.Tokens:
		return fmt.Errorf("num-gpu-blocks-override (%d, of %d tokens each) must hold a request of max-model-len (%d)",
			c.Cache.Blocks, kvcache.BlockSize, c.Limits.ModelLen)
	case c.Pool.Memory != nil && c.Cache.Prefixes:
		return fmt.Errorf("a pool of memory is not simulated together with prefix caching")
	case c.Speculative.Tokens < 0 || c.Speculative.Acceptance < 0 || c.Speculative.Acceptance > 1:
		return fmt.Errorf("draft tokens must not be negative, and acceptance must be from 0 to 1")
	}
	if err := c.Answers.check(); err != nil {
		return err
	}
	return errors.Join(c.Profile.Check(), c.Faults.Check())
}

// engineSettings are the settings of a new engine of such a server, with an empty KV cache.
func (c *Config) engineSettings() steps.Settings {
	return steps.Settings{
		Model: c.ServedModelName, Profile: c.Profile, GPU: c.Device.GPU, Seed: c.Seed,
		NumSeqs: c.Limits.NumSeqs, NumTokens: c.Limits.NumBatchedTokens, ModelLen: c.Limits.ModelLen,
		Speculative: c.Speculative, KV: kvcache.New(c.Cache.Blocks, c.Cache.Prefixes),
		Board: c.Device.Board, Trace: c.Trace,
	}
}

// text starts the answer to a query.
func (c *Config) text(w *words.Vocabulary, q *query) *words.Text {
	return w.Text(words.Asked{
		Seed: c.Seed, Number: q.number, Prompt: q.prompt, Chat: q.chat,
		MaxTokens: q.maxTokens, MinTokens: q.minTokens, IgnoreEOS: q.ignoreEOS,
		Lengths: &c.Profile.OutputLen, Mean: c.Answers.MeanLen,
	})
}

// reason is why a text ends, as vLLM names it.
func reason(t *words.Text) string {
	if t.Stops() {
		return steps.Stop
	}
	return steps.Length
}
