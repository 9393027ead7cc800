package scrape

import (
	"reflect"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
)

func TestDCGMTellsOfEachGPU(t *testing.T) {
	got, err := ParseDCGM(strings.NewReader(`# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100",Hostname="n"} 1000
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100",Hostname="n"} 80000
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",container="one"} 50
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",container="two"} 50
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b"} 350.25
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="1",UUID="GPU-b"} 5000000000500
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="2",UUID="GPU-c"} 140737488355328
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a"} 9223372036854775794
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1"} 100
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2"} 200
DCGM_FI_DEV_FB_TOTAL{gpu="0",UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1"} 40000
DCGM_FI_DEV_FB_TOTAL{gpu="0",UUID="GPU-a",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2"} 40000
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} 9223372036854775794
DCGM_FI_DEV_POWER_USAGE{gpu="2",UUID="GPU-c"} 140737488355328
DCGM_FI_DEV_POWER_USAGE{UUID="GPU-d"} 100
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="0",UUID="GPU-a"} 4
DCGM_FI_DEV_CLOCKS_EVENT_REASONS{gpu="1",UUID="GPU-b"} 72
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="1",UUID="GPU-b"} 0
`))
	want := []samples.GPU{
		{Index: 0, MemoryUsed: new(300.0), MemoryTotal: new(80000.0), Reasons: new(gpu.Reasons(4))},
		{Index: 1, MemoryUsed: new(1000.0), MemoryTotal: new(81000.0), Utilization: new(0.5), Power: new(350.25), Energy: new(5000000000.5), Reasons: new(gpu.Reasons(72))},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
