package metrics

import (
	"math"
	"slices"
	"strings"
)

// config is what was asked of all shared runs together: sums where all were asked
// for so much, and otherwise what they were asked for one by one, or nothing.
func (g *Group) config() Config {
	c := g.Shared[0].Header.Config
	c.RampUp = nil
	c.Goodput, c.Metrics, c.Percentiles = slices.Clone(c.Goodput), slices.Clone(c.Metrics), slices.Clone(c.Percentiles)
	c.Backend = g.each(func(c *Config) string { return c.Backend })
	c.BaseURL = g.each(func(c *Config) string { return c.BaseURL })
	c.Endpoint = g.each(func(c *Config) string { return c.Endpoint })
	c.Model = g.each(func(c *Config) string { return c.Model })
	c.Tokenizer = g.each(func(c *Config) string { return c.Tokenizer })
	c.Dataset = g.each(func(c *Config) string { return c.Dataset })
	c.RateCurve = g.each(func(c *Config) string { return c.RateCurve })
	for _, s := range g.Shared[1:] {
		other := &s.Header.Config
		c.SkipTokenizer = c.SkipTokenizer || other.SkipTokenizer
		c.SelfTimed = c.SelfTimed || other.SelfTimed
		c.IgnoreEOS = c.IgnoreEOS && other.IgnoreEOS
		c.OwnLength = c.OwnLength || other.OwnLength
		c.RequestRate += other.RequestRate
		if c.Burstiness != other.Burstiness {
			c.Burstiness = math.NaN()
		}
		c.NumPrompts = sumKnown(c.NumPrompts, other.NumPrompts)
		c.MaxConcurrency = sumKnown(c.MaxConcurrency, other.MaxConcurrency)
		c.Duration = max(c.Duration, other.Duration)
	}
	return c
}

// sumKnown is a and b together, but not known (-1) or without a limit (0) if one of
// them is.
func sumKnown(a, b int) int {
	if a > 0 && b > 0 {
		return a + b
	}
	return min(a, b)
}

// each is what the shared runs have there, each different text once.
func (g *Group) each(of func(*Config) string) string {
	var all []string
	for _, s := range g.Shared {
		if text := of(&s.Header.Config); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
