package prompts

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

const (
	// The server's prompts are the dataset's, or the load is another one.
	shareLimit = 1.0 // % of the requests
	// System prompts and descriptions of tools are the same in all of them.
	prefixMost     = 4096 // tokens
	prefixForgiven = 4    // tokens, or a tenth of the prefix
)

// Check compares the prompts that the server read with the dataset's. It is false if none differs.
func Check(s *metrics.Summary) (verdict.Check, bool) {
	p := *of(s)
	if Templated(s) {
		p.Longer = p.Beyond
	}
	if prefixed(s) {
		p.Longer = 0
	}
	c := verdict.Check{
		Name: "prompt lengths", Figure: verdict.Percent(p.Shorter+p.Longer, p.Of), Unit: "%", Limit: shareLimit,
	}
	c.Remedy = "use the server's tokenizer (--tokenizer), raise --max-model-len of a server that cuts prompts, or " +
		"check whether it counts cached tokens"
	if p.Longer > p.Shorter {
		c.Remedy = "use the server's tokenizer (--tokenizer)"
	}
	c.Text = fmt.Sprintf("the server read other prompts than asked for: of %d, %d are shorter and %d longer by its "+
		"count, with %d tokens for %d",
		p.Of, p.Shorter, p.Longer, p.Read, p.Asked)
	return c, p.Shorter+p.Longer > 0
}

// Templated reports that a chat template begins all prompts: the server's or the client's.
func Templated(s *metrics.Summary) bool {
	t := &s.Header.Config.Traits
	return t.Templated || t.Rendered
}

// prefixed reports that the server adds the same tokens to all prompts: a long template, a system prompt, tools.
func prefixed(s *metrics.Summary) bool {
	p := of(s)
	return Templated(s) && p.Least > 0 && p.Most <= prefixMost && p.Most-p.Least <= max(prefixForgiven, p.Least/10)
}

// Note says how much the server adds to the prompts, if it is more than a template does.
func Note(s *metrics.Summary) string {
	p := of(s)
	if p.Beyond == 0 || !prefixed(s) {
		return ""
	}
	return fmt.Sprintf("the server adds %d tokens or more to each prompt of a chat, by its count: a long template, a "+
		"system prompt or tools", p.Least)
}
