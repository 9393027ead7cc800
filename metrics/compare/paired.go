package compare

import (
	"math"
	"slices"
)

// A Paired is what sharing did to one target in several repeats. Each repeat has the target alone
// and with the others, so its slowdown is the ratio of one pair.
type Paired struct {
	Target  string
	Effects []Sharing // of each repeat
}

// Pair collects what sharing did to each target in the groups, in the order of their first ones. It
// leaves out groups in which the target was not alone, and targets with fewer than two groups left.
func Pair(groups []Group) []Paired {
	var pairs []Paired
	for i := range groups {
		for _, e := range groups[i].Interference().Effects {
			if e.Alone == nil {
				continue
			}
			at := slices.IndexFunc(pairs, func(p Paired) bool { return p.Target == e.Target })
			if at < 0 {
				at, pairs = len(pairs), append(pairs, Paired{Target: e.Target})
			}
			pairs[at].Effects = append(pairs[at].Effects, e)
		}
	}
	return slices.DeleteFunc(pairs, func(p Paired) bool { return len(p.Effects) < 2 })
}

// Slowdown is the geometric mean of the pairs' slowdowns, for which a slowdown and its inverse
// cancel, with the least and the most of them. All are NaN if one is unknown.
func (p *Paired) Slowdown(m Measure) (mean, least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	logs := 0.0
	for i := range p.Effects {
		v := p.Effects[i].Slowdown(m)
		logs += math.Log(v)
		least, most = min(least, v), max(most, v)
	}
	return math.Exp(logs / float64(len(p.Effects))), least, most
}
