// Package speed says how fast a simulated server is: what a step of its engine takes, how long its
// answers are, and what servers on the same GPU do to each other.
//
// A Profile has the numbers. A Stopwatch draws the times of one server's steps from them.
package speed

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Profile describes how a server behaves: how long its steps take, what they consist of, and how
// long its answers are. It is read from YAML, by the names in the tags; durations are in Go's
// syntax, 7.23ms.
type Profile struct {
	Like  string `yaml:"like"`  // built-in profile whose values apply if this one has none
	About string `yaml:"about"` // what it describes, for people

	// Sizes as in sim.Config, for those that are 0 there.
	MaxNumSeqs          int `yaml:"max-num-seqs"`
	MaxNumBatchedTokens int `yaml:"max-num-batched-tokens"`
	MaxModelLen         int `yaml:"max-model-len"`

	// PrefillFirst decodes nothing while there are prompts to prefill.
	PrefillFirst bool `yaml:"prefill-first"`

	// FrontEnd is the time from a request's arrival until the engine gets it.
	FrontEnd time.Duration `yaml:"front-end"`
	Step     StepTime      `yaml:"step"`
	Stalls   Stalls        `yaml:"stalls"`
	Spells   Spells        `yaml:"spells"`
	Sharing  Sharing       `yaml:"sharing"`
	SMs      SMs           `yaml:"sms"` // if it has a Share, it takes the place of Sharing

	// Hold holds back about one token in Hold, as a server does with half a character: the token
	// comes in one chunk with the next. 0 holds back none.
	Hold int `yaml:"hold"`

	// OutputLen is the length of answers that nothing else ends before max_tokens; zero means
	// sim.Config.Answers.MeanLen.
	OutputLen Lengths `yaml:"output-len"`
}

// Stalls lengthen single steps by an exponentially distributed time.
type Stalls struct {
	Probability float64       `yaml:"probability"` // of a step
	Mean        time.Duration `yaml:"mean"`
}

// Spells are periods in which all steps take Factor times as long. Their starts are a Poisson
// process.
type Spells struct {
	PerSecond float64       `yaml:"per-second"`
	Last      time.Duration `yaml:"last"`
	Factor    float64       `yaml:"factor"`
}

// Sharing is the factor by which another server at work on the same GPU lengthens a step: Base for
// the step and each decoding request, Prompt for prompt tokens. Unless a GPU is shared, the
// other server is always at work, and zero means 1; see GPU.
type Sharing struct {
	Base   float64 `yaml:"base"`
	Prompt float64 `yaml:"prompt"`
}

//go:embed profiles/*.yaml
var builtIn embed.FS

// Names are the names of the built-in profiles, in alphabetical order.
func Names() []string {
	entries, err := builtIn.ReadDir("profiles")
	if err != nil {
		panic(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Open reads a built-in profile by its name or else a file.
func Open(name string) (*Profile, error) {
	p := new(Profile)
	if text, err := builtIn.ReadFile(path.Join("profiles", name+".yaml")); err == nil {
		return p, p.read(name, text)
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is neither a file nor a built-in profile (%s)", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the profile: %w", err)
	}
	return p, p.read(name, text)
}

// read fills p from text, on top of the profile that text says it is like.
func (p *Profile) read(name string, text []byte) error {
	var first struct {
		Like string `yaml:"like"`
	}
	if err := yaml.Unmarshal(text, &first); err != nil {
		return fmt.Errorf("profile %s: %w", name, err)
	}
	if first.Like != "" {
		model, err := builtIn.ReadFile(path.Join("profiles", first.Like+".yaml"))
		if err != nil || first.Like == name {
			return fmt.Errorf("profile %s: like: there is no other built-in profile %s", name, first.Like)
		}
		if err := p.read(first.Like, model); err != nil {
			return err
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("profile %s: %w", name, err)
	}
	p.Like = first.Like
	if err := p.Check(); err != nil {
		return fmt.Errorf("profile %s: %w", name, err)
	}
	return nil
}

// Check reports values that mean nothing.
func (p *Profile) Check() error {
	switch {
	case p.MaxNumSeqs < 0 || p.MaxNumBatchedTokens < 0 || p.MaxModelLen < 0 || p.FrontEnd < 0 || p.Hold < 0:
		return fmt.Errorf("sizes and times must not be negative")
	case p.Hold == 1:
		return fmt.Errorf("hold must be 0 or 2 and more")
	case !(p.Stalls.Probability >= 0 && p.Stalls.Probability <= 1) || p.Stalls.Mean < 0:
		return fmt.Errorf("the probability of stalls must be from 0 to 1, and their mean not negative")
	case !(p.Spells.PerSecond >= 0) || p.Spells.PerSecond > 1e6 || p.Spells.Last < 0 || p.Spells.Factor < 0:
		return fmt.Errorf("spells must be at most a million a second and, like their time and factor, not negative")
	case !(p.Sharing.Base >= 0) || !(p.Sharing.Prompt >= 0):
		return fmt.Errorf("sharing must not be negative")
	}
	return errors.Join(p.Step.check(), p.SMs.check(), p.OutputLen.check())
}
