package gpu

import (
	"fmt"
	"strings"
)

// Reasons are why a GPU's clocks were below their most, as a bitmask: nvmlClocksEventReasons of
// nvml.h, which nvidia-smi and DCGM report.
type Reasons uint64

// The bits that matter here. The others are about settings, and slow nothing down unasked.
const (
	Idle            Reasons = 0x1
	PowerCap        Reasons = 0x4 // software power cap
	hwSlowdown      Reasons = 0x8
	swThermal       Reasons = 0x20
	hwThermal       Reasons = 0x40
	hwPowerBrake    Reasons = 0x80
	Slowdown                = hwSlowdown | swThermal | hwThermal | hwPowerBrake
	thermalSlowdown         = swThermal | hwThermal
)

// names are in the order in which String has them.
var names = []struct {
	bit  Reasons
	name string
}{
	{swThermal, "software thermal slowdown"}, {hwThermal, "hardware thermal slowdown"},
	{hwPowerBrake, "hardware power brake"}, {hwSlowdown, "hardware slowdown"}, {PowerCap, "software power cap"},
}

// String names the reasons that slow a GPU down unasked. The bit of any hardware slowdown has a name
// only where no other bit says which one it is.
func (r Reasons) String() string {
	if r&(hwThermal|hwPowerBrake) != 0 {
		r &^= hwSlowdown
	}
	var said []string
	for _, n := range names {
		if r&n.bit != 0 {
			said = append(said, n.name)
		}
	}
	return strings.Join(said, ", ")
}

// Hot reports whether heat is among the reasons.
func (r Reasons) Hot() bool { return r&thermalSlowdown != 0 }

// Clocks count what slowed one GPU down during the load.
type Clocks struct {
	Index   int
	Samples int     // under load: those in which the GPU was not idle
	Slowed  int     // of them, with a Slowdown
	Capped  int     // of them, at the power cap
	Reasons Reasons // all that were seen under load
}

// Add counts a sample.
func (c *Clocks) Add(r Reasons) {
	if r&Idle != 0 {
		return
	}
	c.Samples++
	c.Reasons |= r
	if r&Slowdown != 0 {
		c.Slowed++
	}
	if r&PowerCap != 0 {
		c.Capped++
	}
}

// String is as GPU 0.
func (c *Clocks) String() string { return fmt.Sprintf("GPU %d", c.Index) }
