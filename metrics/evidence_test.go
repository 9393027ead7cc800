package metrics

import (
	"testing"
	"time"
)

// Two cores are most of a small machine and little of a large one.
func TestOthersOfShardsAreOfTheBusiestMachine(t *testing.T) {
	large := Evidence{Machine: 64, OthersCPU: 20 * time.Second, BusiestOthers: 4}
	small := Evidence{Machine: 2, OthersCPU: 9 * time.Second, BusiestOthers: 1.5}
	for name, shards := range map[string][2]Evidence{"large first": {large, small}, "small first": {small, large}} {
		sum := shards[0]
		sum.add(&shards[1], false)
		if sum.Machine != 2 || sum.OthersCPU != 9*time.Second || sum.BusiestOthers != 1.5 {
			t.Errorf("%s: others had %v cores of %d, %v in all", name, sum.BusiestOthers, sum.Machine, sum.OthersCPU)
		}
	}
	quiet := Evidence{Machine: 4, OthersCPU: time.Second}
	quiet.add(&Evidence{Machine: 8, OthersCPU: 3 * time.Second}, false)
	if quiet.Machine != 8 || quiet.OthersCPU != 3*time.Second {
		t.Errorf("where no machine was full others took %v of %d cores", quiet.OthersCPU, quiet.Machine)
	}
}
