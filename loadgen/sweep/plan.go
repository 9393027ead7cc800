package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Plan is an experiment as its file has it. It is read-only once made.
type Plan struct {
	Seed    int64 // of the first cell's workload, and of a random Order
	Repeats int   // of each point on each arm; at least 1
	Order   Order
	Flags   []string // of every run, as on a command line
	Arms    []Arm    // at least one
	Points  []Point  // in the order of the grid; one without settings when there is no grid
	Between Between
	Search  *Search // nil for one run a cell

	turns int   // see Spread
	seeds int64 // of a run; see Spread
}

// An Arm is one configuration of what is measured.
type Arm struct {
	Name    string
	URL     string   // where the load goes; empty when Flags say so
	Flags   []string // of its runs, after the plan's
	Servers []Server // to be started in this order; none when they run already
	Line    int      `json:"-"` // where the file has it

	turn int // among the arms that load the same server; see Spread
}

// A Server is a command that a sweep starts and stops.
type Server struct {
	Command []string
	Env     map[string]string `json:",omitempty"` // beside the sweep's own
	Folder  string            // to run it in; empty for the sweep's own
	Ready   string            // URL that answers 200 once the server is up
	Within  time.Duration     // how long that may take
	Stop    []string          `json:",omitempty"` // command that stops it, before any signal
	Grace   time.Duration     // between SIGTERM and SIGKILL
	Log     string            // file that gets what it prints; empty for one in the sweep's folder
	Line    int               `json:"-"`
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
	Reset   bool          // the server's prefix cache
	Command []string      `json:",omitempty"`
	Within  time.Duration // how long Command may take
	Pause   time.Duration
	Line    int `json:"-"`
}

// An Order says in which order the cells of a plan are run.
type Order string

const (
	ABBA   Order = "abba"   // every other repeat has the arms the other way round, so that a drift hits all alike
	Random Order = "random" // arms within a repeat, and points within an arm, shuffled by the seed
	Given  Order = "given"  // as the file has them
)

// A Cell is one load on one arm, once. Its fields are indexes, from 0.
type Cell struct{ Repeat, Arm, Point int }

// Cells are all cells in the order of the file: arm, point, repeat.
func (p *Plan) Cells() []Cell {
	var cells []Cell
	for arm := range p.Arms {
		for point := range p.Points {
			for repeat := range p.Repeats {
				cells = append(cells, Cell{repeat, arm, point})
			}
		}
	}
	return cells
}

// Key names a cell in the journal.
func (p *Plan) Key(c Cell) string {
	return fmt.Sprintf("%s/%d/%d", p.Arms[c.Arm].Name, c.Point+1, c.Repeat+1)
}

// Describe is a cell in words.
func (p *Plan) Describe(c Cell) string {
	var words []string
	if len(p.Arms) > 1 {
		words = append(words, p.Arms[c.Arm].Name)
	}
	for _, s := range p.Points[c.Point].Settings {
		words = append(words, s.Flag+" "+s.Value)
	}
	if p.Repeats > 1 {
		words = append(words, fmt.Sprintf("repeat %d", c.Repeat+1))
	}
	if words == nil {
		return p.Arms[c.Arm].Name
	}
	return strings.Join(words, ", ")
}

// Args is the command line of a cell's run, up to what the caller adds.
func (p *Plan) Args(c Cell, probe int) []string {
	arm := &p.Arms[c.Arm]
	args := slices.Clone(p.Flags)
	if arm.URL != "" {
		args = append(args, "--base-url="+arm.URL)
	}
	args = append(args, arm.Flags...)
	args = append(args, fmt.Sprintf("--seed=%d", p.SeedOf(c, probe)))
	for _, s := range p.Points[c.Point].Settings {
		args = append(args, s.Args...)
	}
	return args
}

// Digest tells plans apart: two files that mean the same have the same.
func (p *Plan) Digest() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic("a plan is plain data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
