package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A generator is the object that describes chats to generate, as vLLM's benchmarks/multi_turn reads
// it. Lengths are drawn as that script draws them, bit for bit, from numpy's global generator: the
// turns of all chats, the lengths of all prefixes, the length of the common prefix, and then for
// each chat the lengths of its messages and of its answers. The texts are the same, too: they are
// cut from the text files, token by token.
type generator struct {
	FileType    string   `json:"filetype"`
	Num         int      `json:"num_conversations"`
	Files       []string `json:"text_files"`
	PromptInput struct {
		Turns  *numpyDist `json:"num_turns"`
		Common *numpyDist `json:"common_prefix_num_tokens"`
		Prefix *numpyDist `json:"prefix_num_tokens"`
		Tokens *numpyDist `json:"num_tokens"`
	} `json:"prompt_input"`
	PromptOutput struct {
		Tokens *numpyDist `json:"num_tokens"`
	} `json:"prompt_output"`
}

// A plan is the drawn lengths of a chat, in tokens.
type plan struct {
	prefix int
	input  []int // of each message; the even ones are users'
	output []int // of each message; the odd ones are answers
	offset int   // in the text, of what is cut for this chat
}

// generate makes the chats that the object in f describes.
func (d Conversations) generate(f io.Reader) (dataset.Source, int, error) {
	if d.Tokenizer == nil {
		return nil, 0, errors.New("generated conversations need a tokenizer, to cut texts by tokens")
	}
	if d.Seed < 0 || d.Seed > math.MaxUint32 {
		return nil, 0, fmt.Errorf("seed %d: must be between 0 and %d", d.Seed, uint32(math.MaxUint32))
	}
	var g generator
	dec := json.NewDecoder(pyjson.Strict(f))
	if err := dec.Decode(&g); err != nil {
		return nil, 0, fmt.Errorf("%s: byte %d: %w", d.Path, dec.InputOffset(), rows.Plain(err))
	}
	if err := g.check(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", d.Path, err)
	}
	w := writer{Conversations: d}
	for _, name := range g.Files {
		text, err := readNear(d.Path, name)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: text_files: %w", d.Path, err)
		}
		w.tokens = append(w.tokens, d.Tokenizer.Encode(string(text), false)...)
	}
	w.task = d.Tokenizer.Count(generatedTask, false)
	w.common, w.plans = g.draw(nprand.NewRandomState(uint32(d.Seed)), w.task)
	if err := w.place(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", d.Path, err)
	}
	n := number(&d.Options, len(w.plans))
	return dataset.Numbered(n, func(i int) (*dataset.Conversation, error) {
		return d.session("CONV_ID_"+strconv.Itoa(i), w.messages(i)), nil
	}), n, nil
}

// readNear reads a file that another one names: as it is named, or from the folder of that one.
func readNear(path, name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(name) {
		if text, near := os.ReadFile(filepath.Join(filepath.Dir(path), name)); near == nil {
			return text, nil
		}
	}
	return text, err
}

// check refuses what vLLM's script refuses.
func (g *generator) check() error {
	if g.FileType != "generate_conversations" {
		return fmt.Errorf(`"filetype" is %q instead of "generate_conversations"`, g.FileType)
	}
	if g.Num < 1 {
		return fmt.Errorf(`"num_conversations" is %d: must be at least 1`, g.Num)
	}
	if len(g.Files) == 0 {
		return errors.New(`no "text_files"`)
	}
	if g.PromptInput.Common == nil {
		g.PromptInput.Common = &numpyDist{Kind: "constant", Value: new(float64)}
	}
	for _, field := range []struct {
		name string
		dist *numpyDist
	}{
		{"prompt_input.num_turns", g.PromptInput.Turns}, {"prompt_input.num_tokens", g.PromptInput.Tokens},
		{"prompt_input.prefix_num_tokens", g.PromptInput.Prefix}, {"prompt_input.common_prefix_num_tokens", g.PromptInput.Common},
		{"prompt_output.num_tokens", g.PromptOutput.Tokens},
	} {
		if field.dist == nil {
			return fmt.Errorf("no %q", field.name)
		}
		if err := field.dist.check(); err != nil {
			return fmt.Errorf("%s: %w", field.name, err)
		}
	}
	return nil
}

// draw draws the lengths of all chats. A message of a user has at least the tokens of the task.
func (g *generator) draw(rng *nprand.RandomState, task int) (common int, plans []plan) {
	turns := g.PromptInput.Turns.sample(rng, g.Num)
	prefixes := g.PromptInput.Prefix.sample(rng, g.Num)
	common = g.PromptInput.Common.sample(rng, 1)[0]
	plans = make([]plan, g.Num)
	for i := range plans {
		n := max(turns[i], 2)
		n += n % 2
		p := plan{prefix: prefixes[i], input: g.PromptInput.Tokens.sample(rng, n), output: g.PromptOutput.Tokens.sample(rng, n)}
		for k := range n {
			p.input[k] = max(p.input[k], task)
			p.output[k] = max(p.output[k], 1)
		}
		plans[i] = p
	}
	return common, plans
}

// A numpyDist is a distribution of whole numbers.
type numpyDist struct {
	Kind        string   `json:"distribution"`
	Value       *float64 `json:"value"`
	Min         *float64 `json:"min"`
	Max         *float64 `json:"max"`
	Alpha       *float64 `json:"alpha"`
	Mean        *float64 `json:"mean"`
	Sigma       *float64 `json:"sigma"`
	Average     *float64 `json:"average"`
	MedianRatio *float64 `json:"median_ratio"`
}

// given reports whether all values are there.
func given(values ...*float64) bool {
	for _, v := range values {
		if v == nil {
			return false
		}
	}
	return true
}

// wholes reports whether all values are there and are whole numbers of tokens or turns.
func wholes(values ...*float64) bool {
	for _, v := range values {
		if v == nil || *v != math.Trunc(*v) || math.Abs(*v) > math.MaxInt32 {
			return false
		}
	}
	return true
}

func (d *numpyDist) check() error {
	if d.Max != nil && !wholes(d.Max) {
		return errors.New(`"max" must be a whole number`)
	}
	var fits bool
	var needs string
	switch d.Kind {
	case "constant":
		fits, needs = wholes(d.Value), `"value" must be a whole number`
	case "uniform":
		fits, needs = wholes(d.Min, d.Max) && *d.Min > 0 && *d.Min <= *d.Max, `"min" and "max" must be whole numbers, "min" at least 1 and not above "max"`
	case "zipf":
		fits, needs = given(d.Alpha) && *d.Alpha > 1, `"alpha" must be above 1`
	case "poisson":
		fits, needs = given(d.Alpha) && *d.Alpha >= 0 && *d.Alpha < 1<<31, `"alpha" must not be negative`
	case "lognormal":
		if d.Average != nil {
			ratio := d.MedianRatio == nil || *d.MedianRatio > 0 && *d.MedianRatio < 1
			free := (d.Mean == nil || *d.Mean == 0) && (d.Sigma == nil || *d.Sigma == 0)
			fits, needs = *d.Average >= 1 && ratio && free, `"average" must be at least 1 and without "mean" and "sigma", and "median_ratio" between 0 and 1`
		} else {
			fits, needs = given(d.Mean, d.Sigma) && *d.Mean > 0 && *d.Sigma >= 0, `"average", or "mean" above 0 and "sigma" not negative`
		}
	default:
		return fmt.Errorf(`the "distribution" is %q: must be constant, uniform, zipf, poisson or lognormal`, d.Kind)
	}
	if !fits {
		return fmt.Errorf("%s: %s", d.Kind, needs)
	}
	return nil
}

// sample draws n numbers, as vLLM's script does from numpy.
func (d *numpyDist) sample(rng *nprand.RandomState, n int) []int {
	if d.Kind == "lognormal" {
		return d.lognormal(rng, n)
	}
	values := make([]int, n)
	for i := range values {
		switch d.Kind {
		case "constant":
			values[i] = int(*d.Value)
		case "uniform":
			values[i] = int(*d.Min) + int(rng.Intn(int64(*d.Max)-int64(*d.Min)+1))
		case "zipf":
			values[i] = d.capped(nprand.Zipf(rng, *d.Alpha))
		case "poisson":
			values[i] = d.capped(nprand.Poisson(rng, *d.Alpha))
		}
	}
	return values
}

// capped is a draw, at most Max. Without one the script would ask for texts that nobody has.
func (d *numpyDist) capped(draw int64) int {
	limit := int64(math.MaxInt32)
	if d.Max != nil && *d.Max != 0 {
		limit = int64(*d.Max)
	}
	return int(min(draw, limit))
}

// lognormal draws n numbers. With an average, it scales them so that they have it.
func (d *numpyDist) lognormal(rng *nprand.RandomState, n int) []int {
	scale := 1.
	draws := make([]float64, n)
	if d.Average == nil {
		for i := range draws {
			draws[i] = rng.LogNormal(*d.Mean, *d.Sigma)
		}
	} else {
		ratio := 0.85
		if d.MedianRatio != nil {
			ratio = *d.MedianRatio
		}
		median := *d.Average * ratio
		mean, sigma := nprand.Log(median), math.Sqrt(2*nprand.Log(*d.Average/median))
		for i := range draws {
			draws[i] = rng.LogNormal(mean, sigma)
		}
		scale = *d.Average / (pairwiseSum(draws) / float64(n))
	}
	values := make([]int, n)
	for i, v := range draws {
		v *= scale
		if d.Max != nil && *d.Max != 0 {
			v = min(v, *d.Max)
		}
		values[i] = int(min(math.RoundToEven(v), math.MaxInt32))
	}
	return values
}

// pairwiseSum adds in numpy's order: blocks of up to 128 in eight columns, and halves of more.
func pairwiseSum(v []float64) float64 {
	const columns, block = 8, 128
	n := len(v)
	switch {
	case n < columns:
		sum := 0.
		for _, x := range v {
			sum += x
		}
		return sum
	case n > block:
		half := n / 2
		half -= half % columns
		return pairwiseSum(v[:half]) + pairwiseSum(v[half:])
	}
	var r [columns]float64
	copy(r[:], v)
	i := columns
	for ; i < n-n%columns; i += columns {
		for k := range r {
			r[k] += v[i+k]
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < n; i++ {
		sum += v[i]
	}
	return sum
}
