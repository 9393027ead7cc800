// Package gpupower is the power of a simulated GPU, and its DCGM exporter. It is a model, not a
// measurement: the board takes its idle power always, and its loaded power while any server that it
// carries has requests.
package gpupower

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Board is a GPU that several servers may share. Its methods are safe for concurrent use, and do
// nothing for a nil *Board.
type Board struct {
	idle, loaded float64 // W

	mu      sync.Mutex
	working int       // servers that have requests
	since   time.Time // joules are up to then
	joules  float64
}

// New is a board that takes so many W without and with requests. Its counter of energy begins now.
func New(idle, loaded float64) *Board {
	return &Board{idle: idle, loaded: loaded, since: time.Now()}
}

// Parse reads the power of a new Board in W, idle and loaded, as 90,650.
func Parse(text string) (*Board, error) {
	first, second, _ := strings.Cut(text, ",")
	idle, err := strconv.ParseFloat(first, 64)
	loaded, other := strconv.ParseFloat(second, 64)
	if err != nil || other != nil || !(idle >= 0 && idle <= loaded && loaded < 1e6) {
		return nil, fmt.Errorf("invalid power: %q: it must be two numbers of watts, idle and loaded, as 90,650", text)
	}
	return New(idle, loaded), nil
}

// Work counts a server that has requests from now on, until Rest.
func (b *Board) Work() { b.change(1) }

// Rest ends Work.
func (b *Board) Rest() { b.change(-1) }

func (b *Board) change(servers int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	b.working += servers
}

// count adds the energy up to now.
func (b *Board) count() {
	now := time.Now()
	b.joules += b.watts() * now.Sub(b.since).Seconds()
	b.since = now
}

func (b *Board) watts() float64 {
	if b.working > 0 {
		return b.loaded
	}
	return b.idle
}

// Exposition is the power and the energy in Prometheus' format, under DCGM's names; empty for a nil
// *Board.
func (b *Board) Exposition() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	metric := func(name, help, kind string, v float64) string {
		return fmt.Sprintf("# HELP %[1]s %[2]s (simulated: a model).\n# TYPE %[1]s "+
			"%[3]s\n%[1]s{gpu=\"0\",modelName=\"simulated\"} %[4]s\n",
			name, help, kind, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return metric("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W)", "gauge", b.watts()) +
		metric("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy consumption since boot (in mJ)", "counter",
			b.joules*1000)
}
