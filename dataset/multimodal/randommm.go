package multimodal

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// RandomMM makes prompts of random tokens with images of random pixels, as vLLM's random-mm does:
// token for token, and pixel for pixel. It makes them as they are pulled. It sets Python.
type RandomMM struct {
	dataset.Random      // with a Tokenizer
	Chat           bool // make the user's message here
	Media          Media
}

// Media say which images requests have.
type Media struct {
	Items   int     // of a request
	Ratio   float64 // by how much Items vary, from 0 to 1
	Buckets []Bucket

	// Limits are the most media of each kind in a request. A kind without one may not be in Buckets.
	Limits map[dataset.Kind]int
}

// Open checks the fields. It returns the source and the number of its conversations.
func (d RandomMM) Open() (dataset.Source, int, error) {
	if err := d.Media.Check(); err != nil {
		return nil, 0, err
	}
	c, _ := d.Media.choice()
	drafts, err := d.drafts(c)
	if err != nil {
		return nil, 0, err
	}
	if d.Python != nil {
		*d.Python = *nprand.NewPython(d.Seed)
	}
	return dataset.Parallel(drafts, c.width(), d.make), d.Num, nil
}

// Check refuses wrong Items, Limits and Buckets; its errors begin with the flag of vLLM's client. It
// refuses videos, since no encoder for them is written in Go.
func (m *Media) Check() error {
	c, err := m.choice()
	if err != nil {
		return err
	}
	for _, b := range c.buckets {
		if b.Frames > 1 && c.limits[dataset.Video] > 0 {
			return fmt.Errorf("--random-mm-bucket-config: (%d, %d, %d) is a video, and servebench has no encoder for videos, "+
				"as none is written in Go: "+
				"give it the weight 0", b.Height, b.Width, b.Frames)
		}
	}
	return nil
}

// A mediaPlan is a conversation without its images.
type mediaPlan struct {
	*dataset.Conversation
	items []item
}

// An item is an image or a video, and the generator that draws its pixels.
type item struct {
	Bucket
	rng nprand.Generator
}

// drafts draws all that is drawn in order. It only skips pixels.
func (d RandomMM) drafts(c *choice) (iter.Seq[mediaPlan], error) {
	if d.Tokenizer == nil {
		return nil, errors.New("random-mm: needs a tokenizer")
	}
	d.Tokenizer = tokenizer.FlaggedSpecial(d.Tokenizer)
	prompts, err := dataset.OpenRandom(d.Random, c.draw)
	if err != nil {
		return nil, err
	}
	return func(yield func(mediaPlan) bool) {
		for conversation, items := range prompts {
			if !yield(mediaPlan{conversation, items}) {
				return
			}
		}
	}, nil
}

// make draws the pixels of a draft, and encodes them.
func (d RandomMM) make(from mediaPlan) (*dataset.Conversation, error) {
	turn := &from.Turns[0] // nobody else has it yet
	turn.Payload = &dataset.Payload{Media: make([]dataset.Medium, len(from.items))}
	for i := range from.items {
		turn.Payload.Media[i] = media.Picture(from.items[i].pixels())
	}
	if d.Chat {
		turn.Messages = media.Message(turn.Prompt, turn.Payload.Media)
	}
	return from.Conversation, nil
}

// pixels draws the item; the frames of a video lie one below the other.
func (i *item) pixels() media.Pixels {
	p := media.Pixels{Width: i.Width, Height: i.Frames * i.Height, RGB: make([]byte, i.bytes())}
	i.rng.Bytes(p.RGB)
	return p
}

// A choice says what the media of a request are drawn from.
type choice struct {
	buckets []Bucket // whose weights add up to about 1
	limits  map[dataset.Kind]int
	fewest  int // media of a request
	most    int
}

// choice checks what it is drawn from, in the order of vLLM's client.
func (m *Media) choice() (*choice, error) {
	if !(m.Ratio >= 0 && m.Ratio <= 1) {
		return nil, errors.New("--random-mm-num-mm-items-range-ratio: it must be from 0 to 1")
	}
	if m.Items < 0 {
		return nil, fmt.Errorf("--random-mm-base-items-per-request: %d: it must not be negative", m.Items)
	}
	c := &choice{limits: map[dataset.Kind]int{}}
	for _, b := range m.Buckets {
		limit, ok := m.Limits[b.kind()]
		switch {
		case !ok:
			return nil, fmt.Errorf("--random-mm-limit-mm-per-prompt: it has no %s, and --random-mm-bucket-config has (%d, "+
				"%d, %d)", b.kind(), b.Height, b.Width, b.Frames)
		case limit < 0:
			return nil, fmt.Errorf("--random-mm-limit-mm-per-prompt: %s: %d: it must not be negative", b.kind(), limit)
		case !(b.Weight >= 0) || math.IsInf(b.Weight, 1):
			return nil, errors.New("--random-mm-bucket-config: weights must not be negative")
		case b.Weight > 0:
			c.buckets, c.limits[b.kind()] = append(c.buckets, b), limit
		}
	}
	if len(c.buckets) == 0 {
		return nil, errors.New("--random-mm-bucket-config: one weight at least must not be 0")
	}
	normalise(c.buckets)
	c.fewest = max(0, int(math.Floor(float64(m.Items)*(1-m.Ratio))))
	c.most = int(math.Ceil(float64(m.Items) * (1 + m.Ratio)))
	allowed := 0
	for _, limit := range c.limits {
		allowed += limit
	}
	if c.most = min(c.most, allowed); c.fewest > c.most {
		return nil, fmt.Errorf("--random-mm-base-items-per-request: each request has at least %d items, and "+
			"--random-mm-limit-mm-per-prompt allows %d", c.fewest, c.most)
	}
	return c, nil
}

// normalise makes weights add up to 1, with Python's rounding errors.
func normalise(buckets []Bucket) {
	sum := 0.
	for i := range buckets {
		sum += buckets[i].Weight
	}
	for i := range buckets {
		buckets[i].Weight /= sum
	}
}

// draw draws the items of a request, and skips their pixels.
func (c *choice) draw(rng *nprand.Generator) (items []item) {
	count := int(rng.Integers(int64(c.fewest), int64(c.most)+1))
	left, had := c.buckets, map[dataset.Kind]int{}
	for len(items) < count && len(left) > 0 {
		b := left[drawn(left, rng.Double())]
		kind := b.kind()
		if had[kind] >= c.limits[kind] {
			left = slices.DeleteFunc(slices.Clone(left), func(b Bucket) bool { return b.kind() == kind })
			normalise(left)
			continue
		}
		had[kind]++
		items = append(items, item{b, *rng})
		rng.SkipBytes(b.bytes())
	}
	return items
}

// drawn is which bucket u means, as numpy's choice decides.
func drawn(buckets []Bucket, u float64) int {
	whole := 0.
	for i := range buckets {
		whole += buckets[i].Weight
	}
	sum := 0.
	for i := range buckets {
		if sum += buckets[i].Weight; sum/whole > u {
			return i
		}
	}
	return len(buckets) - 1
}

// width is how many requests are made at once: as many as a few megabytes hold, with their pixels
// and files, but one for each core at least.
func (c *choice) width() int {
	const (
		atOnce = 64
		bytes  = 16 << 20
		copies = 3 // of the pixels: as drawn, as the coder takes them, and its file
	)
	largest := 1
	for i := range c.buckets {
		largest = max(largest, c.buckets[i].bytes())
	}
	return max(runtime.GOMAXPROCS(0), min(atOnce, bytes/(copies*largest*max(c.most, 1))))
}
