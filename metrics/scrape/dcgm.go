package scrape

import (
	"io"
	"maps"
	"slices"
	"strconv"

	dto "github.com/prometheus/client_model/go"

	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
)

// dcgmBlank is DCGM_INT32_BLANK, the least of the values by which DCGM says that a value is
// missing; its exporter passes them on.
const dcgmBlank = 0x7ffffff0

// dcgmEnergy is the counter of energy in mJ, an int64 that outgrows dcgmBlank within hours. It is
// missing from DCGM_FP64_BLANK on, which is 2⁴⁷.
const (
	dcgmEnergy      = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
	dcgmEnergyBlank = 1 << 47
)

// blank is the least value by which DCGM says that a value of that name is missing.
func blank(name string) float64 {
	if name == dcgmEnergy {
		return dcgmEnergyBlank
	}
	return dcgmBlank
}

// dcgmField identifies one value of a GPU or of a part of it.
type dcgmField struct {
	gpu      int
	instance string // of MIG; "" for the whole GPU
	name     string
}

// ParseDCGM reads what GPUs do from the /metrics of NVIDIA's DCGM exporter, in the order of their
// indexes. The error is ErrNoSample if the text has nothing from it. It knows the names and units
// of etc/default-counters.csv. The memory of a GPU is the sum over its MIG instances; power and
// energy are of the whole board.
func ParseDCGM(r io.Reader) ([]samples.GPU, error) {
	// A GPU that several containers share occurs once for each.
	fields := map[dcgmField]float64{}
	for s, err := range exposition(r) {
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(s.label("gpu"))
		if err == nil && s.value < blank(s.name) {
			fields[dcgmField{index, s.label("GPU_I_ID"), s.name}] = s.value
		}
	}
	byIndex := map[int]totals{}
	for f, v := range fields {
		if byIndex[f.gpu] == nil {
			byIndex[f.gpu] = totals{}
		}
		byIndex[f.gpu].add(series{f.name, []*dto.LabelPair{{Name: new("GPU_I_ID"), Value: &f.instance}}, v})
	}
	var gpus []samples.GPU
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		if g := dcgmGPU(index, byIndex[index]); g != (samples.GPU{Index: index}) {
			gpus = append(gpus, g)
		}
	}
	if gpus == nil {
		return nil, ErrNoSample
	}
	return gpus, nil
}

func dcgmGPU(index int, all totals) samples.GPU {
	g := samples.GPU{
		Index:       index,
		MemoryUsed:  all.first("DCGM_FI_DEV_FB_USED"),
		MemoryTotal: all.first("DCGM_FI_DEV_FB_TOTAL"),
		Utilization: all.firstMean("DCGM_FI_DEV_GPU_UTIL"),
		Power:       all.firstMean("DCGM_FI_DEV_POWER_USAGE"),
		Energy:      all.firstMean(dcgmEnergy),
	}
	if g.MemoryTotal != nil && *g.MemoryTotal == 0 {
		g.MemoryTotal = nil // of a GPU that shares the memory of the machine
	}
	if g.Energy != nil {
		*g.Energy /= 1000 // from mJ
	}
	if g.Utilization != nil {
		*g.Utilization /= 100
	}
	// The second is the name up to DCGM 3.
	if active := all.firstMean("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"); active != nil &&
		*active >= 0 {
		g.Reasons = new(gpu.Reasons(*active))
	}
	if free := all.first("DCGM_FI_DEV_FB_FREE"); g.MemoryTotal == nil && g.MemoryUsed != nil && free != nil {
		// The total is not among the default counters.
		sum := *g.MemoryUsed + *free + all["DCGM_FI_DEV_FB_RESERVED"].sum()
		g.MemoryTotal = &sum
	}
	return g
}
