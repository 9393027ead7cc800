// Package sweep runs an experiment: many runs over servers and loads, in an order that is fair to
// all of them. It can be killed at any time, and continues where it was.
//
// A Plan is the content of an experiment's file. It has a cell for each arm (a server in one
// configuration), point (a load) and repeat. A cell is one run or, if the plan has a Search, as
// many as the search needs. A journal in the sweep's folder records the finished runs. The plan and
// the journal alone decide what to run next, so a sweep that was cut short ends as if it had not
// been.
//
// Parse reads a Plan, Plan.Describe reports what it would do, and Sweep does it: it starts the
// servers, checks that they are up, and writes the result blocks and a table. The package knows no
// flag: Flags reads the command line of a load.
package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Plan is an experiment as in its file. Nobody changes it after it is made.
type Plan struct {
	// Seed is the seed of the first cell's workload, and of a random Order.
	Seed int64 `yaml:"seed"`

	// Repeats is how often each point runs on each arm; at least 1.
	Repeats int `yaml:"repeats"`

	Order Order    `yaml:"order"`
	Flags []string // of every run, as on a command line
	Arms  []Arm    // at least one

	// Points are in the order of the grid, and then of the arms' grids. Without a grid there is one
	// without settings.
	Points []Point

	// Common is how many of the Points are for arms without a grid; 0 for all.
	Common int `json:",omitempty"`

	// Between is what is done before each run.
	Between Between `yaml:"between"`

	// Needs is what its servers and scripts need besides what their commands say.
	Needs Needs `json:"-" yaml:"needs"`

	// Dry makes the runs on simulated servers, in time that does not pass.
	Dry bool `json:",omitempty"`

	// Against are blocks of documents to put next to runs. They change no run.
	Against []Against `json:"-"`

	// Origin is the file, if it named the folder of the sweep. A folder of another file with the same
	// name is then another experiment's; empty for no such check.
	Origin string `json:"-"`

	// Sequential makes the sweep stop before its last repeat; nil for all repeats.
	Sequential *Sequential `json:",omitempty"`

	// Search makes each cell a search; nil for one run a cell.
	Search *Search

	loads *loads
	turns int   // of arms that load the same server
	seeds int64 // that a run takes
}

// An Arm is one configuration of what is measured.
type Arm struct {
	Name    string   `yaml:"name"`
	URL     string   `yaml:"url"` // where the load goes; empty if Flags say so
	Flags   []string // of its runs, after the plan's
	Servers []Server `yaml:"servers"` // to start in this order; none if they already run

	// Points are the places of its loads in the plan's Points; nil for the loads of arms without a
	// grid.
	Points []int `json:",omitempty"`

	// Labels say what its configuration is, in tables, charts and the metadata of its runs.
	Labels Labels `json:",omitempty" yaml:"labels"`

	// Needs is what only this arm needs, besides the Needs of the plan.
	Needs Needs `json:"-" yaml:"needs"`

	Line int `json:"-"` // where the file has it

	grid *yaml.Node // of its Points in the file; nil for none
	turn int        // among the arms that load the same server
}

// A Server is a command that a sweep starts and stops.
type Server struct {
	Command Command `yaml:"command"`

	// Env is added to the sweep's environment.
	Env map[string]string `json:",omitempty" yaml:"env"`

	// Folder is its working directory; empty for the sweep's.
	Folder string `yaml:"folder"`

	// Ready is the URL that answers 200 once the server is up, and Within how long that
	// may take.
	Ready  string        `yaml:"ready"`
	Within time.Duration `yaml:"ready-timeout"`

	// Stop is a command that stops it, before any signal.
	Stop Command `json:",omitempty" yaml:"stop"`

	// Grace is how long Stop may take, and how long SIGTERM may before SIGKILL.
	Grace time.Duration `yaml:"stop-timeout"`

	// Log is the file that gets what it prints; empty for one in the sweep's folder.
	Log string `yaml:"log"`

	Line int `json:"-"` // where the file has it
}

// A Point is one load of the grid.
type Point struct {
	Group    int // which of the file's grids it is from
	Inner    int // how many of the last Settings belong to the key that changes fastest
	Settings []Setting
}

// A Setting is a flag with one of the values that the grid has for it.
type Setting struct {
	Flag  string
	Value string   // as a reader sees it
	Args  []string // as a command line has it
}

// Between is what is done before each run.
type Between struct {
	Reset   bool          `yaml:"reset-prefix-cache"` // of the server
	Command Command       `json:",omitempty" yaml:"command"`
	Within  time.Duration `yaml:"timeout"` // how long Command may take
	Pause   time.Duration `yaml:"pause"`
	Line    int           `json:"-"` // where the file has it
}

// UnmarshalYAML reads what is done, with its line.
func (b *Between) UnmarshalYAML(node *yaml.Node) error {
	b.Line, b.Within = node.Line, betweenWithin
	return fields(node, "between", b)
}

// An Order says in which order the cells of a plan are run.
type Order string

const (
	// ABBA reverses the arms in every other repeat, so that a drift affects all arms equally.
	ABBA Order = "abba"

	// Random shuffles the arms within a repeat, and the points within an arm, by the seed.
	Random Order = "random"

	// Given is the order of the file.
	Given Order = "given"
)

// UnmarshalYAML reads the name of an order.
func (o *Order) UnmarshalYAML(node *yaml.Node) error {
	if *o = Order(node.Value); !slices.Contains([]Order{ABBA, Random, Given}, *o) {
		return at(node, "order: %q: it must be abba, random or given", node.Value)
	}
	return nil
}

// arms is the order of so many arms in a repeat.
func (o Order) arms(n, repeat int, shuffled *rand.Rand) []int {
	arms := make([]int, n)
	for i := range arms {
		arms[i] = i
	}
	switch {
	case o == Random:
		arms = shuffled.Perm(n)
	case o == ABBA && repeat%2 == 1:
		slices.Reverse(arms)
	}
	return arms
}

// digest identifies a plan: two files with the same meaning have the same digest. It ignores the
// repeats, so a plan with more repeats continues with the finished runs.
func (p *Plan) digest() string {
	same := *p
	same.Repeats = 0
	text, err := json.Marshal(&same)
	if err != nil {
		panic("a plan is plain data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Folder is a folder name for a plan without a file, which begins with names, if any: the same for the
// same plan.
func (p *Plan) Folder(names ...string) string {
	begin := strings.Join(names, "-")
	if begin == "" || len(begin) > mostNamed || strings.HasPrefix(begin, ".") || strings.HasPrefix(begin, "-") {
		begin = "servebench"
	}
	return begin + "-" + p.digest()[:8] + ".sweep"
}

// mostNamed is the longest beginning of a folder's name.
const mostNamed = 60

// A cell is one load on one arm, once. Its fields are indexes, from 0.
type cell struct{ repeat, arm, point int }

// most is the most repeats that may be made: of a sequential sweep, also the pairs that are made again.
func (p *Plan) most() int {
	if p.Sequential == nil {
		return p.Repeats
	}
	return p.Repeats * (1 + mostAgain)
}

// cells are all cells in the order of the file: arm, point, repeat.
func (p *Plan) cells() []cell {
	var cells []cell
	for arm := range p.Arms {
		for _, point := range p.pointsOf(arm) {
			for repeat := range p.most() {
				cells = append(cells, cell{repeat, arm, point})
			}
		}
	}
	return cells
}

// pointsOf are the places in Points of an arm's loads.
func (p *Plan) pointsOf(arm int) []int {
	if own := p.Arms[arm].Points; own != nil {
		return own
	}
	n := len(p.Points)
	if p.Common > 0 {
		n = p.Common
	}
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	return places
}

// key names a cell in the journal.
func (p *Plan) key(c cell) string {
	return fmt.Sprintf("%s/%d/%d", p.Arms[c.arm].Name, c.point+1, c.repeat+1)
}

// describe is a cell in words.
func (p *Plan) describe(c cell) string {
	var words []string
	if len(p.Arms) > 1 {
		words = append(words, p.Arms[c.arm].Name)
	}
	for _, s := range p.Points[c.point].Settings {
		words = append(words, s.Flag+" "+s.Value)
	}
	if p.Repeats > 1 {
		words = append(words, fmt.Sprintf("repeat %d", c.repeat+1))
	}
	if words == nil {
		return p.Arms[c.arm].Name
	}
	return strings.Join(words, ", ")
}

// args is the command line of a cell's run, up to what the caller adds.
func (p *Plan) args(c cell, probe int) []string {
	arm := &p.Arms[c.arm]
	args := slices.Clone(p.Flags)
	if arm.URL != "" {
		args = append(args, "--base-url="+arm.URL)
	}
	args = append(args, arm.Flags...)
	args = append(args, fmt.Sprintf("--seed=%d", p.seedOf(c, probe)))
	for _, s := range p.Points[c.point].Settings {
		args = append(args, s.Args...)
	}
	return args
}

// blocks are the cells in the order in which they run, grouped by the time that one arm's servers
// stay up: one block for each arm and repeat.
func (p *Plan) blocks() [][]cell {
	shuffled := rand.New(rand.NewPCG(uint64(p.Seed), 0))
	var blocks [][]cell
	for repeat := range p.most() {
		for _, arm := range p.Order.arms(len(p.Arms), repeat, shuffled) {
			var block []cell
			for _, point := range p.pointsOf(arm) {
				block = append(block, cell{repeat, arm, point})
			}
			if p.Order == Random {
				shuffled.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// probesPerCell is the distance between the seeds of two cells under a search, in runs.
const probesPerCell = 1000

// seedOf is the seed of a cell's probe, counted from 0. Arms share the seeds of a repeat, so they
// are compared on the same workload, unless they load the same server. Repeats, points and probes
// differ, so that no prompt is already in a prefix cache.
func (p *Plan) seedOf(c cell, probe int) int64 {
	n := int64(c.repeat*len(p.Points)+c.point)*int64(p.turns) + int64(p.Arms[c.arm].turn)
	if p.Search != nil {
		n = n*probesPerCell + int64(probe)
	}
	return p.Seed + n*p.seeds
}

// spread separates the seeds of loads that must not send the same prompts. An arm's own servers
// know no prompts of other arms, since they are restarted for it.
func (p *Plan) spread() {
	servers := make([]map[string]bool, len(p.Arms)) // that the runs of each arm load
	for i := range servers {
		servers[i] = map[string]bool{}
	}
	for c, load := range p.loads.of {
		p.seeds = max(p.seeds, load.Plan.Seeds())
		for _, target := range load.targets() {
			servers[c.arm][target.Server.Socket+" "+target.Server.BaseURL] = true
		}
	}
	for i := range p.Arms {
		arm := &p.Arms[i]
		for j := range i {
			other := &p.Arms[j]
			if arm.Servers != nil || other.Servers != nil {
				continue
			}
			for server := range servers[i] {
				if servers[j][server] {
					arm.turn = max(arm.turn, other.turn+1)
				}
			}
		}
		p.turns = max(p.turns, arm.turn+1)
	}
}
