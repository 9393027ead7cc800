package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// mostPairs is the most pairs of a sequential sweep, which looks after each pair from the third.
const mostPairs = 20

// A watched is what the gate made of many sequential sweeps. NoVerdict is a sweep with the most pairs.
type watched struct {
	verdicts map[compare.Verdict]int
	pairs    []int // of each sweep, in order
}

// share is how often there was that verdict.
func (w *watched) share(v compare.Verdict) float64 {
	return float64(w.verdicts[v]) / float64(len(w.pairs))
}

func (w *watched) mean() float64 {
	sum := 0
	for _, n := range w.pairs {
		sum += n
	}
	return float64(sum) / float64(len(w.pairs))
}

func (w *watched) median() int { return w.pairs[len(w.pairs)/2] }

// watch makes sequential sweeps of pairs.
func (c cell) watch(seed uint64, trials int) *watched {
	chance, w := rand.New(rand.NewPCG(seed, c.hash())), &watched{verdicts: map[compare.Verdict]int{}}
	slots := pairs(mostPairs, 1)
	for range trials {
		old, new := session(chance, c.noise, slots, c.effect)
		verdict, n := follow(old, new, c.margin)
		w.verdicts[verdict]++
		w.pairs = append(w.pairs, n)
	}
	slices.Sort(w.pairs)
	return w
}

// follow looks after each pair until there is a verdict. It does not give up before the last pair.
func follow(old, new []*brief.Run, margin float64) (verdict compare.Verdict, n int) {
	for i := range old {
		old[i].MaxPairs, new[i].MaxPairs = mostPairs, mostPairs
	}
	for n = compare.LeastPairs; n <= mostPairs; n++ {
		if verdict = gate(old[:n], new[:n], margin); verdict != compare.NoVerdict {
			return verdict, n
		}
	}
	return verdict, mostPairs
}

// fixedSizes are the numbers of pairs, or of runs a side, from which equal chooses.
var fixedSizes = []int{3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40}

// equal is the least fixed number of pairs by which a rule comes to a verdict as often as the share
// wanted; 0 if none of fixedSizes does.
func (c cell) equal(rule rule, verdict compare.Verdict, wanted float64, seed uint64, trials int) int {
	for _, n := range fixedSizes {
		chance, slots, found := rand.New(rand.NewPCG(seed, c.hash())), pairs(n, 1), 0
		for range trials {
			if old, new := session(chance, c.noise, slots, c.effect); rule(old, new, c.margin) == verdict {
				found++
			}
		}
		if float64(found) >= wanted*float64(trials) {
			return n
		}
	}
	return 0
}

// An early is what a noise makes of the sequential rule, and of fixed numbers of pairs with the
// same power.
type early struct {
	noise        string
	alike, worse *watched
	fixed, was   [2]int // pairs to pass what is alike, and to find what is worse; 0 for too many
}

func (s *series) early(margin, effect float64) []early {
	all := make([]early, len(s.noises))
	s.each(func(i int, n noise) {
		e := &all[i]
		alike := cell{noise: n, design: designs()[0], margin: margin}
		worse := alike
		worse.effect = effect
		e.noise, e.alike, e.worse = n.name, alike.watch(s.seed, s.trials), worse.watch(s.seed, s.trials)
		passed, found := e.alike.share(compare.Pass), e.worse.share(compare.Regressed)
		for into, rule := range map[*[2]int]rule{&e.fixed: gate, &e.was: before} {
			into[0] = alike.equal(rule, compare.Pass, passed, s.seed, s.trials/4)
			into[1] = worse.equal(rule, compare.Regressed, found, s.seed, s.trials/4)
		}
	})
	return all
}

// writeEarly writes a table in Markdown about the sequential rule.
func (s *series) writeEarly(w io.Writer, all []early) error {
	var text strings.Builder
	text.WriteString("| noise | false | pairs | passed | found | pairs | missed | fixed pairs: pass | find | before: " +
		"pass | find |\n" + strings.Repeat("|---", 11) + "|\n")
	for _, e := range all {
		fmt.Fprintf(&text, "| %s | %s | %.1f (%d) | %s | %s | %.1f (%d) | %s | %s | %s | %s | %s |\n", e.noise,
			percent(e.alike.verdicts[compare.Regressed], s.trials), e.alike.mean(), e.alike.median(),
			percent(e.alike.verdicts[compare.Pass], s.trials),
			percent(e.worse.verdicts[compare.Regressed], s.trials), e.worse.mean(), e.worse.median(),
			percent(e.worse.verdicts[compare.Pass], s.trials),
			size(e.fixed[0]), size(e.fixed[1]), size(e.was[0]), size(e.was[1]))
	}
	_, err := io.WriteString(w, text.String()+"\n")
	return err
}

// size is a number of pairs in words.
func size(n int) string {
	if n == 0 {
		return fmt.Sprintf("> %d", slices.Max(fixedSizes))
	}
	return fmt.Sprint(n)
}

// checkEarly fails if the sequential rule has more false alarms than a true rate of 5 % allows.
func (s *series) checkEarly(all []early) error {
	for _, e := range all {
		if n := e.alike.verdicts[compare.Regressed]; n > tolerated(s.trials) {
			return fmt.Errorf("sequential, %s: %d of %d that are alike are REGRESSED", e.noise, n, s.trials)
		}
	}
	return nil
}
