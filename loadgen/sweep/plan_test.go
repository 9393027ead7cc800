package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen"
)

// ran is the order of a plan's cells, as "A1.2" for the first repeat of arm A's
// second point.
func ran(p *Plan) string {
	var blocks []string
	for _, block := range p.blocks() {
		var cells []string
		for _, c := range block {
			cells = append(cells, fmt.Sprintf("%s%d.%d", p.Arms[c.arm].Name, c.repeat+1, c.point+1))
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

func TestArmsWithAGridRunItsPoints(t *testing.T) {
	for _, row := range []struct {
		arms, want string
		common     int
	}{
		{"grid: {num-prompts: [1, 2]}\narms: [{name: A, grid: {num-prompts: [3, 2]}}, {name: B}]", "A1.3 A1.2 | B1.1 B1.2", 2},
		{"arms: [{name: A, grid: {num-prompts: 1}}, {name: B, grid: {num-prompts: [2, 1]}}]", "A1.1 | B1.2 B1.1", 0},
		{"arms: [{name: A, grid: [{num-prompts: 1}, {num-prompts: 1}]}, {name: B}]", "A1.2 A1.3 | B1.1", 1}, // a point that is there twice runs twice
		{"grid: [{num-prompts: 1}, {num-prompts: 1}]\narms: [{name: A, grid: [{num-prompts: 1}, {num-prompts: 1}]}, {name: B}]", "A1.1 A1.2 | B1.1 B1.2", 2},
	} {
		p := parse(t, row.arms)
		if got := ran(p); got != row.want || p.Common != row.common {
			t.Errorf("%s:\n%s, %d in common, want\n%s, %d", row.arms, got, p.Common, row.want, row.common)
		}
		keys := map[string]bool{}
		for _, c := range p.cells() {
			if keys[p.key(c)] {
				t.Errorf("%s: two runs are %s in the journal", row.arms, p.key(c))
			}
			keys[p.key(c)] = true
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
	cells := slices.Concat(one.blocks()...)
	if !slices.IsSortedFunc(cells, func(a, b cell) int { return a.repeat - b.repeat }) {
		t.Errorf("repeats are mixed: %s", ran(one))
	}
	for _, c := range one.cells() {
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
		for _, c := range p.cells() {
			probes := 1
			if p.Search != nil {
				probes = 5
			}
			for probe := range probes {
				seed, whose := p.seedOf(c, probe), fmt.Sprint(c.repeat, c.point, probe)
				if owner[seed] == "" {
					owner[seed] = whose
				}
				if owner[seed] != whose || seed < 7 {
					t.Errorf("seed %d is of %s and %s", seed, owner[seed], whose)
				}
				if arg := fmt.Sprintf("--seed=%d", seed); !slices.Contains(p.args(c, probe), arg) {
					t.Errorf("%q lacks %s", p.args(c, probe), arg)
				}
			}
		}
		if len(p.cells()) != 18 || p.Search == nil && len(owner) != 6 || p.Search != nil && len(owner) != 30 {
			t.Errorf("%d cells with %d seeds", len(p.cells()), len(owner))
		}
	}
}

func TestLaterFlagsWin(t *testing.T) {
	p := parse(t, "load: {num-prompts: 1}\narms: [{name: a, url: 'http://h', load: {num-prompts: 2}}]\ngrid: {num-prompts: [3], seed: 9}")
	want := "--num-prompts=1 --base-url=http://h --num-prompts=2 --seed=0 --num-prompts=3 --seed=9"
	if got := strings.Join(p.args(cell{}, 0), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Two arms without commands of their own load the same server, and a third one
// in part; the others start theirs.
const spreadArms = "seed: 7\nrepeats: 2\ngrid: {num-prompts: [1, 2]}\n" +
	"arms: [{name: A}, {name: B}, {name: C}, {name: D, url: 'http://h', command: x}, {name: E, url: 'http://h', command: y}, {name: F}]"

func TestArmsOnOneServerDifferInTheirSeeds(t *testing.T) {
	const search = "\nuntil: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 1}}"
	loads := [][]string{{"x"}, {"x", "y"}, {"y"}, {"x"}, {"x"}, {"z"}}
	for _, plan := range []string{spreadArms, spreadArms + search} {
		p := parse(t, plan)
		const perRun = 3
		for c, load := range p.loads.of {
			load.Plan.Targets = nil
			for i := range perRun {
				server := loads[c.arm][i%len(loads[c.arm])]
				load.Plan.Targets = append(load.Plan.Targets, &loadgen.Plan{Server: loadgen.Server{BaseURL: server}, Workload: loadgen.Workload{Seed: int64(i)}})
			}
		}
		p.spread()
		users := map[string]map[int64]string{} // by server, whose each seed is
		for _, c := range p.cells() {
			probes := 1
			if p.Search != nil {
				probes = 4
			}
			for probe := range probes {
				whose := fmt.Sprint(c, probe)
				for n := range int64(perRun) {
					for _, server := range loads[c.arm] {
						if p.Arms[c.arm].Servers != nil {
							server = "own of " + p.Arms[c.arm].Name
						}
						if users[server] == nil {
							users[server] = map[int64]string{}
						}
						if seed := p.seedOf(c, probe) + n; users[server][seed] != "" {
							t.Errorf("server %s: seed %d is of %s and %s", server, seed, users[server][seed], whose)
						} else {
							users[server][seed] = whose
						}
					}
				}
			}
		}
		for _, arm := range []int{3, 4, 5} {
			if c := (cell{1, arm, 1}); p.seedOf(c, 0) != p.seedOf(cell{1, 0, 1}, 0) {
				t.Errorf("arm %s is not paired with the first", p.Arms[arm].Name)
			}
		}
	}
}

func TestMissingCommandsAreNamedWithTheirLines(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"server": 0o700, "notes": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, row := range []struct{ text, says string }{
		{"command: [no-such-server, --port, '1']", `plan.yaml:2: arm a: exec: "no-such-server"`},
		{"command: [server]", ""},
		{"command: [notes]", `plan.yaml:2: arm a: exec: "notes"`},
		{"command: [server], env: {PATH: /none}", `plan.yaml:2: arm a: "server" is not in the PATH of its env, /none`},
		{"command: [server], env: {PATH: '/none:DIR'}", ""},
		{"command: [DIR/server]", ""},
		{"command: [DIR/other]", "plan.yaml:2: arm a: exec: "},
		{"command: [./server], folder: DIR", ""},
		{"command: [./notes], folder: DIR", "plan.yaml:2: arm a: exec: "},
		{"command: [./server]", "plan.yaml:2: arm a: exec: "},
		{"command: [server], folder: DIR/none", "plan.yaml:2: arm a: folder: there is no folder "},
		{"command: [server], stop: [halt]", `plan.yaml:2: arm a: exec: "halt"`},
		{"command: [server]}\nbetween: {command: [settle]", `plan.yaml:3: between: exec: "settle"`},
	} {
		text := strings.ReplaceAll("arms:\n- {name: a, url: http://h, "+row.text+"}", "DIR", dir)
		err := parse(t, text).Check("plan.yaml")
		if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%s: %v, want it to say %q", row.text, err, row.says)
		}
	}
}

func TestWaitingIsAsLongAsAStop(t *testing.T) {
	for text, least := range map[string]time.Duration{
		"seed: 1": betweenGrace,
		"arms: [{name: a, url: 'http://h', command: x, stop-timeout: 5m}]":          5 * time.Minute,
		"arms: [{name: a, url: 'http://h', command: x, stop: y, stop-timeout: 5m}]": 10 * time.Minute,
		"arms: [{name: a, url: 'http://h', servers: [{command: x}, {command: y}]}]": 2 * usualGrace,
	} {
		if got := parse(t, text).stopTime(); got <= least || got > least+time.Minute {
			t.Errorf("%s: %v, want some more than %v", text, got, least)
		}
	}
}

// A journal goes on only if a later servebench takes the same file for the same plan.
func TestDigestOutlastsReleases(t *testing.T) {
	p := parse(t, `
seed: 3
repeats: 2
order: random
load: {num-prompts: 7}
arms:
  - {name: a, url: "http://h", command: [x, y], env: {A: b}, stop: [z], stop-timeout: 3, folder: f, log: l}
  - {name: b, url: "http://h", load: {request-rate: 2}}
grid: [{random-input-len: [8, 9], num-prompts: 1}, {zip: {num-prompts: [1, 2], random-input-len: [3, 4]}}]
between: {reset-prefix-cache: true, command: x, pause: 2}
until: {flag: max-concurrency, from: 1, to: 9, slo: {p99-ttft: 1, mean-tpot: 2}}
`)
	if got := p.digest(); got != "801e917cccde191a" {
		t.Errorf("it is %s now", got)
	}
}
