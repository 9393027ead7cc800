package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics/compare"
)

// A series is many cells, each tried as often, from one seed.
type series struct {
	noises []noise
	trials int
	seed   uint64
}

// sizes are how many values a side the experiments have.
var sizes = []int{4, 6, 10, 20}

// A row is what the rules made of one noise in one design: of sides that are alike, and of a new side
// that is worse, for each of sizes.
type row struct {
	noise        string
	alike, worse []tally
}

// rows tries all noises in a design.
func (s *series) rows(d design, margin, effect float64) []row {
	rows := make([]row, len(s.noises))
	s.each(func(i int, n noise) {
		rows[i].noise = n.name
		for _, size := range sizes {
			rows[i].alike = append(rows[i].alike, cell{n, d, size, margin, 0}.try(s.seed, s.trials))
			rows[i].worse = append(rows[i].worse, cell{n, d, size, margin, effect}.try(s.seed, s.trials))
		}
	})
	return rows
}

// each does something for each noise, as many at a time as there are cores.
func (s *series) each(do func(i int, n noise)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, n := range s.noises {
		wait.Go(func() {
			free <- struct{}{}
			do(i, n)
			<-free
		})
	}
	wait.Wait()
}

// write writes rows as a table in Markdown. A field has a percentage for each of sizes.
func (s *series) write(w io.Writer, rows []row) error {
	var text strings.Builder
	text.WriteString("| noise |")
	for _, c := range columns {
		fmt.Fprintf(&text, " %s |", c.name)
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&text, "| %s |", r.noise)
		for _, c := range columns {
			var shares []string
			for k := range sizes {
				shares = append(shares, percent(c.of(&r, k), s.trials))
			}
			fmt.Fprintf(&text, " %s |", strings.Join(shares, " / "))
		}
		text.WriteString("\n")
	}
	_, err := io.WriteString(w, text.String()+"\n")
	return err
}

// percent is the share of trials in percent, with one decimal below 10.
func percent(count, trials int) string {
	p := 100 * float64(count) / float64(trials)
	if p == 0 || p >= 9.95 {
		return fmt.Sprintf("%.0f", p)
	}
	return fmt.Sprintf("%.1f", p)
}

// A column counts the trials in which something happened.
type column struct {
	name string
	of   func(r *row, size int) int
}

// columns are: who calls what is alike REGRESSED, who has no verdict on it, who finds what is worse,
// and who passes it.
var columns = func() (all []column) {
	add := func(what string, rule int, v compare.Verdict, of func(*row) []tally) {
		all = append(all, column{what + ": " + rules[rule].name, func(r *row, size int) int { return of(r)[size][rule][v] }})
	}
	alike, worse := func(r *row) []tally { return r.alike }, func(r *row) []tally { return r.worse }
	for i := range rules {
		add("false", i, compare.Regressed, alike)
	}
	for i := range rules[:2] {
		add("open", i, compare.NoVerdict, alike)
	}
	for i := range rules {
		add("found", i, compare.Regressed, worse)
	}
	for i := range rules[:2] {
		add("missed", i, compare.Pass, worse)
	}
	return all
}()

// tolerated is how many of so many trials a true rate of 5 % exceeds with a chance of 1 % at most: 67 of
// 1,000.
func tolerated(trials int) int {
	n, sum := float64(trials), 0.0
	for k := 0; ; k++ {
		x := float64(k)
		all, _ := math.Lgamma(n + 1)
		some, _ := math.Lgamma(x + 1)
		others, _ := math.Lgamma(n - x + 1)
		sum += math.Exp(all - some - others + x*math.Log(alpha) + (n-x)*math.Log1p(-alpha))
		if sum >= 0.99 {
			return k
		}
	}
}

// check fails if the gate has more false alarms in a row than the true rate of 5 % allows.
func (s *series) check(d design, rows []row) error {
	for _, r := range rows {
		for k, size := range sizes {
			if n := r.alike[k][0][compare.Regressed]; n > tolerated(s.trials) {
				return fmt.Errorf("%s, %s, %d values a side: %d of %d that are alike are REGRESSED", d.name, r.noise, size, n,
					s.trials)
			}
		}
	}
	return nil
}
