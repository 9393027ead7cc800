package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ran is the order of a plan's cells, as "A1.2" for the first repeat of arm A's
// second point.
func ran(p *Plan) string {
	var blocks []string
	for _, block := range p.Blocks() {
		var cells []string
		for _, c := range block {
			cells = append(cells, fmt.Sprintf("%s%d.%d", p.Arms[c.Arm].Name, c.Repeat+1, c.Point+1))
		}
		blocks = append(blocks, strings.Join(cells, " "))
	}
	return strings.Join(blocks, " | ")
}

const threeArms = "repeats: 3\ngrid: {num-prompts: [1, 2]}\narms: [{name: A}, {name: B}, {name: C}]\norder: "

func TestOrder(t *testing.T) {
	for _, row := range []struct{ plan, want string }{
		{threeArms + "abba", "A1.1 A1.2 | B1.1 B1.2 | C1.1 C1.2 | C2.1 C2.2 | B2.1 B2.2 | A2.1 A2.2 | A3.1 A3.2 | B3.1 B3.2 | C3.1 C3.2"},
		{threeArms + "given", "A1.1 A1.2 | B1.1 B1.2 | C1.1 C1.2 | A2.1 A2.2 | B2.1 B2.2 | C2.1 C2.2 | A3.1 A3.2 | B3.1 B3.2 | C3.1 C3.2"},
		{"repeats: 2\narms: [{name: A}, {name: B}]", "A1.1 | B1.1 | B2.1 | A2.1"},
		{"repeats: 2", "server1.1 | server2.1"},
	} {
		if got := ran(parse(t, row.plan)); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.plan, got, row.want)
		}
	}
}

func TestRandomOrderIsTheSeeds(t *testing.T) {
	one, again := parse(t, threeArms+"random"), parse(t, threeArms+"random")
	if ran(one) != ran(again) {
		t.Errorf("two orders for one seed:\n%s\n%s", ran(one), ran(again))
	}
	other := parse(t, threeArms+"random\nseed: 1")
	if ran(one) == ran(other) || ran(one) == ran(parse(t, threeArms+"given")) {
		t.Errorf("not shuffled: %s", ran(one))
	}
	// Every cell once, and repeats one after the other.
	cells := slices.Concat(one.Blocks()...)
	if !slices.IsSortedFunc(cells, func(a, b Cell) int { return a.Repeat - b.Repeat }) {
		t.Errorf("repeats are mixed: %s", ran(one))
	}
	for _, c := range one.Cells() {
		if i := slices.Index(cells, c); i < 0 || slices.Contains(cells[i+1:], c) {
			t.Errorf("%v is not there once: %s", c, ran(one))
		}
	}
}

func TestArmsShareTheSeedsOfARepeat(t *testing.T) {
	const search = "\nuntil: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 1}}"
	for _, plan := range []string{threeArms + "abba\nseed: 7", threeArms + "random\nseed: 7" + search} {
		p := parse(t, plan)
		owner := map[int64]string{}
		for _, c := range p.Cells() {
			probes := 1
			if p.Search != nil {
				probes = 5
			}
			for probe := range probes {
				seed, whose := p.SeedOf(c, probe), fmt.Sprint(c.Repeat, c.Point, probe)
				if owner[seed] == "" {
					owner[seed] = whose
				}
				if owner[seed] != whose || seed < 7 {
					t.Errorf("seed %d is of %s and %s", seed, owner[seed], whose)
				}
				if arg := fmt.Sprintf("--seed=%d", seed); !slices.Contains(p.Args(c, probe), arg) {
					t.Errorf("%q lacks %s", p.Args(c, probe), arg)
				}
			}
		}
		if len(p.Cells()) != 18 || p.Search == nil && len(owner) != 6 || p.Search != nil && len(owner) != 30 {
			t.Errorf("%d cells with %d seeds", len(p.Cells()), len(owner))
		}
	}
}

func TestLaterFlagsWin(t *testing.T) {
	p := parse(t, "load: {num-prompts: 1}\narms: [{name: a, url: 'http://h', load: {num-prompts: 2}}]\ngrid: {num-prompts: [3], seed: 9}")
	want := "--num-prompts=1 --base-url=http://h --num-prompts=2 --seed=0 --num-prompts=3 --seed=9"
	if got := strings.Join(p.Args(Cell{}, 0), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMissingCommandIsNamedWithItsLine(t *testing.T) {
	p := parse(t, "arms:\n- name: a\n  url: http://h\n  command: [no-such-server, --port, '1']")
	if err := p.Check("plan.yaml"); err == nil || !strings.Contains(err.Error(), `plan.yaml:2: arm a: exec: "no-such-server"`) {
		t.Error(err)
	}
}
